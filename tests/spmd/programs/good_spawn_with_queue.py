"""Workers of `mp.spawn`; rank 0 leaves the loop of prints early, not that of collectives."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, world_size):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "29501"
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    history = []
    for step in range(4):
        value = torch.tensor([float(step * rank)])
        dist.all_reduce(value)
        history.append(value.item())
    if rank == 0:
        for step, value in enumerate(history):
            if value > 1:
                break
            print(step, value)
    cleanup()


def cleanup():
    dist.barrier()
    dist.destroy_process_group()


def main():
    world_size = 2
    mp.spawn(run, args=(world_size,), nprocs=world_size, join=True)


if __name__ == "__main__":
    main()
