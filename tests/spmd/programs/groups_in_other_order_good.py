"""All ranks make the groups in the same order."""

import torch
import torch.distributed as dist


def make_groups(rank):
    members = [[0], [0, 1]]
    groups = {}
    for ranks in members:
        groups[len(ranks)] = dist.new_group(ranks)
    return groups


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    groups = make_groups(rank)
    value = torch.tensor([1.0 + rank])
    dist.all_reduce(value, group=groups[2])
    print(value.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
