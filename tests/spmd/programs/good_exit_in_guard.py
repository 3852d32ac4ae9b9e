"""All ranks leave with the exit code of `main`, which they agree on."""

import sys

import torch
import torch.distributed as dist


def main() -> int:
    dist.init_process_group("gloo")
    votes = torch.tensor([dist.get_rank()])
    dist.all_reduce(votes, op=dist.ReduceOp.MAX)
    if votes.item() > 5:
        return 1
    dist.barrier()
    if dist.get_rank() == 0:
        print("fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
