"""Rank 0 trains a step more to warm up.

Fails: hang.
"""

import argparse

import torch
import torch.distributed as dist


def train(steps):
    for _ in range(steps):
        gradient = torch.ones(2)
        dist.all_reduce(gradient)  # error: SPM?


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    steps = args.steps
    if dist.get_rank() == 0:
        steps += 1
    train(steps)  # error: SPM?
    dist.barrier()  # error: SPM?
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
