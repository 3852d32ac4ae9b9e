"""The last batches of the ranks have different sizes, and `all_gather` wants equal ones.

Fails: error.
"""

import torch
import torch.distributed as dist


def predictions(rank):
    return torch.ones(5 - 2 * rank) * (rank + 1)


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    mine = predictions(rank)
    pieces = [torch.zeros_like(mine) for _ in range(world_size)]
    dist.all_gather(pieces, mine)  # error: SPM
    if rank == 0:
        print(torch.cat(pieces).tolist())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
