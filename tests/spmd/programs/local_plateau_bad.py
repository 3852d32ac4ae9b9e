"""Ranks decide by their own losses whether to average weights after an epoch.

Fails: hang.
"""

from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass
class State:
    best: float = float("inf")
    epoch: int = 0


def shard_loss(rank, epoch):
    return torch.tensor([2.0 / (epoch + 1) if rank == 0 else 2.0])


def average(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.data)  # error: SPM?
        parameter.data /= dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    model, state = torch.nn.Linear(2, 1), State()
    for epoch in range(3):
        loss = shard_loss(dist.get_rank(), epoch)
        if loss.item() < state.best:
            state.best = loss.item()
            average(model)  # error: SPM?
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
