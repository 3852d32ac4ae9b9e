"""Workers wait with rank 0 before they leave."""

import sys

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    result = torch.tensor([float(rank)])
    dist.reduce(result, dst=0)
    if rank > 0:
        dist.barrier()
        sys.exit(0)
    print("sum", result.item())
    dist.barrier()


if __name__ == "__main__":
    main()
