"""Everybody calls `gather` and `scatter`; only the list differs by rank."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    mine = torch.full((2,), float(rank))
    if rank == 0:
        pieces = [torch.empty(2) for _ in range(world_size)]
        dist.gather(mine, gather_list=pieces, dst=0)
    else:
        pieces = None
        dist.gather(mine, dst=0)
    share = torch.empty(2)
    dist.scatter(share, scatter_list=pieces if rank == 0 else None, src=0)
    print(share.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
