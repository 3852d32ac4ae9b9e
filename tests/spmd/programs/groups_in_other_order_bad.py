"""Ranks make two groups in different orders, so that one name means two groups.

Fails: hang.
"""

import torch
import torch.distributed as dist


def make_groups(rank):
    members = [[0], [0, 1]] if rank == 0 else [[0, 1], [0]]
    groups = {}
    for ranks in members:
        groups[len(ranks)] = dist.new_group(ranks)  # error: SPM?
    return groups


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    groups = make_groups(rank)  # error: SPM?
    value = torch.tensor([1.0 + rank])
    dist.all_reduce(value, group=groups[2])  # error: SPM?
    print(value.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
