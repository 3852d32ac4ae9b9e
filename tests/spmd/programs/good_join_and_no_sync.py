"""`no_sync` for all but the last of a few passes, `join` for the rest of uneven batches."""

import contextlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for number in range(4):
        context = contextlib.nullcontext() if number % 2 else model.no_sync()
        with context:
            model(torch.ones(1, 2)).sum().backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
    uneven = [torch.ones(1, 2)] * (1 + rank)
    with model.join():
        for batch in uneven:
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    print(len(list(model.parameters())))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
