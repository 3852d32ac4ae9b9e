"""A table by rank holds a function that reduces and one that does not.

Fails: hang.
"""

import torch
import torch.distributed as dist


def lead(value):
    dist.all_reduce(value)  # error: SPM?
    print("sum", value.item())


def follow(value):
    value.zero_()


ROLES = {0: lead, 1: follow}


def main():
    dist.init_process_group("gloo")
    act = ROLES[dist.get_rank()]
    act(torch.ones(1))  # error: SPM?
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
