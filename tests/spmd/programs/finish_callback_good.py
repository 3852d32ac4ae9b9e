"""Both functions to finish with wait for all."""

from functools import partial

import torch
import torch.distributed as dist


def finish(message, wait):
    print(message)
    if wait:
        dist.barrier()


def train(steps, on_end):
    total = torch.zeros(1)
    for step in range(steps):
        total += step
    on_end()
    return total


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        on_end = partial(finish, "main is done", wait=True)
    else:
        on_end = partial(finish, "worker is done", wait=True)
    total = train(3, on_end)
    dist.all_reduce(total)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
