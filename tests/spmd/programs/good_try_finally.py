"""A rank fails within, and comes to the barrier in `finally` like the other."""

import torch
import torch.distributed as dist


def work(rank):
    try:
        if rank == 1:
            raise ValueError("nothing to do")
        return torch.ones(1)
    finally:
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    try:
        result = work(dist.get_rank())
    except ValueError:
        result = torch.zeros(1)
    dist.all_reduce(result)
    print(result.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
