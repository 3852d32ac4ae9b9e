"""Branches on the rank at both ends of a collective that stands between them."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        values = torch.arange(4.0)
    else:
        values = torch.zeros(4)
    dist.broadcast(values, 0)
    for index in range(3):
        if rank == index:
            continue
        values[index] += 1
    while rank > 0:
        rank -= 1
        values *= 2
    dist.all_reduce(values)
    print(values.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
