"""Rank 0 evaluates the wrapped model, whose forward pass broadcasts the statistics of BatchNorm.

Fails: error.
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def evaluate(model):
    with torch.no_grad():
        return model(torch.ones(4, 3)).mean().item()  # error: SPM?


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(4, 3)).sum().backward()
        optimizer.step()
        if dist.get_rank() == 0:
            print(evaluate(model))  # error: SPM?
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
