"""Rank 0 evaluates a copy without the wrapper while the others wait at the next barrier."""

import copy

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    total = sum(model(batch).mean().item() for batch in batches)
    model.train()
    return total / len(batches)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        optimizer.zero_grad()
        model(torch.randn(4, 3)).sum().backward()
        optimizer.step()
        dist.barrier()
        if rank == 0:
            plain = copy.deepcopy(model.module if hasattr(model, "module") else model)
            print(epoch, evaluate(plain, [torch.ones(2, 3)] * 2) is not None)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
