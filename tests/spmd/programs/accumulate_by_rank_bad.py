"""Gradients are reduced each `rank + 1` steps.

Fails: hang.
"""

import torch
import torch.distributed as dist


class Accumulator:
    def __init__(self, every):
        self.every, self.count = every, 0

    def ready(self):
        self.count += 1
        return self.count % self.every == 0


def main():
    dist.init_process_group("gloo")
    accumulator = Accumulator(every=dist.get_rank() + 1)
    gradient = torch.zeros(2)
    for _ in range(4):
        gradient += 1
        if accumulator.ready():
            dist.all_reduce(gradient)  # error: SPM
            gradient.zero_()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
