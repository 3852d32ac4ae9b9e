"""`gather` collects at rank 0; all ranks call it, and one passes a list."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    features = torch.full((2, 3), float(rank))
    gathered = [torch.empty_like(features) for _ in range(world_size)] if rank == 0 else None
    dist.gather(features, gathered, dst=0)
    if rank == 0:
        print(torch.cat(gathered).shape)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
