"""Helpers do nothing without a process group; whether there is one is the same everywhere."""

import torch
import torch.distributed as dist


def is_dist():
    return dist.is_available() and dist.is_initialized()


def get_world_size():
    return dist.get_world_size() if is_dist() else 1


def get_rank():
    return dist.get_rank() if is_dist() else 0


def synchronize():
    if not is_dist():
        return
    if dist.get_world_size() == 1:
        return
    dist.barrier()


def main():
    synchronize()
    dist.init_process_group("gloo")
    synchronize()
    if get_rank() == 0:
        torch.save(torch.ones(1), "one.pt")
    synchronize()
    print(torch.load("one.pt").item(), get_world_size())
    dist.destroy_process_group()
    if get_rank() == 0:
        synchronize()


if __name__ == "__main__":
    main()
