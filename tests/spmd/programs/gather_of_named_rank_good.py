"""The rank that gathers is a parameter; all ranks come to it."""

import torch
import torch.distributed as dist


def collect(tensor, destination):
    if dist.get_rank() != destination:
        dist.gather(tensor, dst=destination)
        return None
    parts = [torch.empty_like(tensor) for _ in range(dist.get_world_size())]
    dist.gather(tensor, parts, dst=destination)
    return torch.stack(parts)


def main():
    dist.init_process_group("gloo")
    parts = collect(torch.ones(2) * dist.get_rank(), destination=1)
    if parts is not None:
        print(parts.tolist())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
