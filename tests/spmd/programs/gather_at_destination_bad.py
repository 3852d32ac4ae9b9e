"""`gather` collects at rank 0, and only rank 0 calls it.

Fails: hang.
"""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    features = torch.full((2, 3), float(rank))
    if rank == 0:
        gathered = [torch.empty_like(features) for _ in range(world_size)]
        dist.gather(features, gathered, dst=0)  # error: SPM
        print(torch.cat(gathered).shape)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
