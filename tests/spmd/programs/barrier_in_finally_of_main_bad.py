"""Rank 0 cleans up in `finally` and waits there for ranks that do not.

Fails: hang.
"""

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
        if rank == 0:
            dist.barrier()  # error: SPM
            os.remove("part0.pt")
    dist.broadcast(total, src=0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
