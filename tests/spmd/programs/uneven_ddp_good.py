"""`join` lets the rank with fewer batches follow the other one."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def batches(rank):
    return [torch.randn(4, 3) for _ in range(2 + rank)]


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with model.join():
        for batch in batches(rank):
            optimizer.zero_grad()
            loss = model(batch).pow(2).mean()
            loss.backward()
            optimizer.step()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
