"""All ranks wait in `finally`, rank 0 cleans up behind it."""

import os

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    try:
        torch.save(torch.ones(1), f"part{rank}.pt")
        total = torch.ones(1)
        dist.all_reduce(total)
    finally:
        dist.barrier()
        if rank == 0:
            os.remove("part0.pt")
    dist.broadcast(total, src=0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
