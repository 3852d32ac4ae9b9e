"""Workers leave with `sys.exit` while rank 0 waits for them.

Fails: hang.
"""

import sys

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    result = torch.tensor([float(rank)])
    dist.reduce(result, dst=0)
    if rank != 0:
        sys.exit(0)
    print("sum", result.item())
    dist.barrier()  # error: SPM


if __name__ == "__main__":
    main()
