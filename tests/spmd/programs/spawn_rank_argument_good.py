"""Workers of `mp.spawn` reduce together; the first one prints."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def setup(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def worker(rank, world_size, steps):
    setup(rank, world_size)
    loss = torch.zeros(1)
    for step in range(steps):
        loss += step
    dist.all_reduce(loss)
    if rank == 0:
        print(f"mean loss {loss.item() / world_size}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    world_size = 2
    mp.spawn(worker, args=(world_size, 3), nprocs=world_size, join=True)
