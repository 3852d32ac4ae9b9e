"""Each rank looks at its own clock to see whether there is time for another step.

Fails: hang.
"""

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
        dist.all_reduce(gradient)  # error: SPM
        steps += 1
        done = time.monotonic() - start > budget
    print("done")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
