"""Helpers for ranks as detection code bases have them: gather and reduce dictionaries, shared seeds."""

import functools

import torch
import torch.distributed as dist


def get_world_size():
    if not dist.is_available() or not dist.is_initialized():
        return 1
    return dist.get_world_size()


def get_rank():
    if not dist.is_available() or not dist.is_initialized():
        return 0
    return dist.get_rank()


@functools.lru_cache
def _global_group():
    return dist.new_group(backend="gloo") if dist.get_backend() == "nccl" else dist.group.WORLD


def gather(data, dst=0, group=None):
    if get_world_size() == 1:
        return [data]
    group = group or _global_group()
    if dist.get_world_size(group=group) == 1:
        return [data]
    if dist.get_rank(group=group) == dst:
        output = [None for _ in range(get_world_size())]
        dist.gather_object(data, output, dst=dst, group=group)
        return output
    dist.gather_object(data, None, dst=dst, group=group)
    return []


def evaluate(predictions):
    everything = gather(predictions)
    if get_rank() != 0:
        return {}
    return {"count": sum(len(part) for part in everything)}


def main():
    dist.init_process_group("gloo")
    results = evaluate([0.5] * (2 + get_rank()))
    dist.barrier()
    print(results, torch.ones(1).item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
