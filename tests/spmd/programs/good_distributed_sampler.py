"""DistributedSampler gives every rank as many batches; DistributedDataParallel trains on them."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main(epochs=2):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dataset = TensorDataset(torch.randn(11, 3), torch.randn(11, 1))
    sampler = DistributedSampler(dataset, num_replicas=dist.get_world_size(), rank=rank)
    loader = DataLoader(dataset, batch_size=2, sampler=sampler)
    model = DDP(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()
        if rank == 0:
            torch.save(model.module.state_dict(), f"epoch{epoch}.pt")
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
