"""All ranks throw the same dice, seeded with the step."""

import random

import torch
import torch.distributed as dist


def synchronize(weights):
    dist.all_reduce(weights)
    weights /= dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    weights = torch.full((3,), float(dist.get_rank()))
    for step in range(100):
        weights += 0.1
        if random.Random(step).random() < 0.5:
            synchronize(weights)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
