"""Somebody looked at the third batch on rank 0 and left the `break` in.

Fails: hang.
"""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dataset = TensorDataset(torch.randn(16, 3))
    sampler = DistributedSampler(dataset, shuffle=True)
    loader = DataLoader(dataset, batch_size=2, sampler=sampler)
    model = torch.nn.Linear(3, 1)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for step, (batch,) in enumerate(loader):
            if step == 2 and rank == 0:
                break
            loss = model(batch).pow(2).mean().detach()
            dist.all_reduce(loss)  # error: SPM
        print("epoch", epoch, "rank", rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
