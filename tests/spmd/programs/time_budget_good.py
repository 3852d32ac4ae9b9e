"""Rank 0's clock decides for all whether there is time for another step."""

import time

import torch
import torch.distributed as dist


def train_step(rank):
    time.sleep(0.01 * (1 + rank))
    return torch.ones(4)


def main(budget=0.4):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 1:
        time.sleep(0.3)
    start, steps, done = time.monotonic(), 0, False
    while not done:
        gradient = train_step(rank)
        dist.all_reduce(gradient)
        steps += 1
        late = torch.tensor([float(time.monotonic() - start > budget)])
        dist.broadcast(late, src=0)
        done = bool(late.item())
    print("done")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
