"""Each rank throws its own dice to see whether to synchronize.

Fails: hang.
"""

import random

import torch
import torch.distributed as dist


def synchronize(weights):
    dist.all_reduce(weights)  # error: SPM?
    weights /= dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    weights = torch.full((3,), float(dist.get_rank()))
    for _ in range(100):
        weights += 0.1
        if random.random() < 0.5:
            synchronize(weights)  # error: SPM?
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
