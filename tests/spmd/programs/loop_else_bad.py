"""The `else` of a loop is skipped by the rank that breaks.

Fails: hang.
"""

import torch
import torch.distributed as dist


def search(rank):
    found = torch.tensor([-1.0])
    for candidate in range(4):
        if candidate * 2 == rank * 2 + 6 * rank:
            found[0] = candidate
            break
    else:
        dist.barrier()  # error: SPM
    return found


def main():
    dist.init_process_group("gloo")
    found = search(dist.get_rank())
    dist.all_reduce(found, op=dist.ReduceOp.MAX)
    print(found.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
