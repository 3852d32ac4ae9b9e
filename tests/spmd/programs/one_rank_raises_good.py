"""Ranks agree that a shard is bad, then all of them stop in the same way."""

import sys

import torch
import torch.distributed as dist


def load_shard(rank):
    return torch.ones(4 if rank == 0 else 0, 2)


def main():
    dist.init_process_group("gloo")
    shard = load_shard(dist.get_rank())
    smallest = torch.tensor([len(shard)])
    dist.all_reduce(smallest, op=dist.ReduceOp.MIN)
    if smallest.item() == 0:
        print("empty shard")
        sys.exit(0)
    total = shard.sum(dim=0)
    dist.all_reduce(total)
    print(total.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
