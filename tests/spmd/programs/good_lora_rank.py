"""`rank` is the width of an adapter and an option of the program."""

import argparse

import torch.distributed as dist
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, features, rank):
        super().__init__()
        self.rank = rank
        self.base = nn.Linear(features, features)
        if rank > 0:
            self.down = nn.Linear(features, rank, bias=False)
            self.up = nn.Linear(rank, features, bias=False)

    def merge(self):
        if self.rank == 0:
            return
        update = (self.up.weight @ self.down.weight).detach()
        dist.all_reduce(update)
        self.base.weight.data += update / dist.get_world_size()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    layer = LoRALinear(4, args.rank)
    layer.merge()
    if args.rank != 0:
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
