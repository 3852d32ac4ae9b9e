"""Every rank reduces once a batch, and ranks have different numbers of batches.

Fails: hang.
"""

import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset


def main():
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo")
    data = torch.arange(10.0).reshape(5, 2)
    shard = data[rank::world_size]
    loader = DataLoader(TensorDataset(shard), batch_size=1)
    weight = torch.zeros(2)
    for (batch,) in loader:
        gradient = (batch - weight).mean(dim=0)
        dist.all_reduce(gradient)  # error: SPM
        weight += 0.1 * gradient / world_size
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
