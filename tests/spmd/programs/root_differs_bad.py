"""Each rank broadcasts what it believes to be the newest: the roots differ.

Fails: hang.
"""

import os

import torch
import torch.distributed as dist

RANK = int(os.environ["RANK"])
WORLD_SIZE = int(os.environ["WORLD_SIZE"])


def newest():
    return 0 if RANK == 0 else WORLD_SIZE - 1


def main():
    dist.init_process_group("gloo", rank=RANK, world_size=WORLD_SIZE)
    weights = torch.full((3,), float(RANK))
    dist.broadcast(weights, src=newest())  # error: SPM
    print(weights.tolist())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
