"""A reduction by hand: in each round half of the ranks that are left send to the other half."""

import torch
import torch.distributed as dist


def tree_reduce(value):
    rank, world_size, distance = dist.get_rank(), dist.get_world_size(), 1
    while distance < world_size:
        if rank % (2 * distance) == 0:
            if rank + distance < world_size:
                other = torch.zeros_like(value)
                dist.recv(other, src=rank + distance)
                value += other
        elif rank % distance == 0:
            dist.send(value, dst=rank - distance)
        distance *= 2
    return value


def main():
    dist.init_process_group("gloo")
    total = tree_reduce(torch.tensor([1.0 + dist.get_rank()]))
    dist.broadcast(total, src=0)
    print(total.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
