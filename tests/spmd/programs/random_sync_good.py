"""All ranks throw the same dice, seeded with the step."""

import random

import torch
import torch.distributed as dist


def sync_buffers(buffers):
    dist.broadcast(buffers, src=0)


def main():
    dist.init_process_group("gloo")
    weights, buffers = torch.zeros(3), torch.full((2,), float(dist.get_rank()))
    for step in range(100):
        gradient = torch.ones(3) / (step + 1)
        dist.all_reduce(gradient)
        weights -= gradient
        if random.Random(step).random() < 0.5:
            sync_buffers(buffers)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
