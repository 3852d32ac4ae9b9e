"""Each rank has its own checkpoint; they begin at the epoch that all of them have."""

import os

import torch
import torch.distributed as dist


def own_epoch(rank):
    path = f"rank{rank}.epoch"
    if not os.path.exists(path):
        with open(path, "w") as file:
            file.write(str(1 + rank))
    with open(path) as file:
        return int(file.read())


def common_epoch(rank):
    epoch = torch.tensor([own_epoch(rank)])
    dist.all_reduce(epoch, op=dist.ReduceOp.MIN)
    return epoch.item()


def main(epochs=4):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for epoch in range(common_epoch(rank), epochs):
        loss = torch.tensor([1.0 / epoch])
        dist.all_reduce(loss)
        if rank == 0:
            with open("log.txt", "a") as log:
                log.write(f"{epoch} {loss.item()}\n")
    dist.barrier()
    print(rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
