"""DistributedDataParallel reduces in `backward`; one rank has a batch more.

Fails: hang.
"""

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
    for batch in batches(rank):
        optimizer.zero_grad()
        loss = model(batch).pow(2).mean()  # error: SPM?
        loss.backward()  # error: SPM?
        optimizer.step()
    dist.barrier()  # error: SPM?
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
