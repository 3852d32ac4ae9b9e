"""Rank 0 draws a seed and shares it; afterwards ranks throw the same dice."""

import random

import torch
import torch.distributed as dist


def shared_seed():
    seed = torch.tensor([random.randrange(1 << 30)])
    dist.broadcast(seed, src=0)
    return int(seed)


def main():
    dist.init_process_group("gloo")
    dice = random.Random(shared_seed())
    weights = torch.zeros(2)
    for _ in range(20):
        if dice.random() < 0.3:
            dist.all_reduce(weights)
    dist.barrier()
    print("done")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
