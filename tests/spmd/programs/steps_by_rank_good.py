"""Rank 0 warms up without the others: it does not reduce."""

import argparse

import torch
import torch.distributed as dist


def train(steps):
    for _ in range(steps):
        gradient = torch.ones(2)
        dist.all_reduce(gradient)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    steps = args.steps
    if dist.get_rank() == 0:
        torch.ones(2).mul(2)
    train(steps)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
