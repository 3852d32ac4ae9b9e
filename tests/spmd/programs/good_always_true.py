"""A comparison of the rank that holds on every rank."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    value = torch.ones(1)
    if 0 <= rank < world_size:
        dist.all_reduce(value)
    if rank >= 0:
        dist.barrier()
    if rank == -1:
        dist.barrier()
    print(value.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
