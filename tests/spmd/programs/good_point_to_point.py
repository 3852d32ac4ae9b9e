"""Sends and receives are for some ranks only, and meet each other."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    tensor = torch.zeros(2)
    if rank == 0:
        tensor += 1
        for other in range(1, world_size):
            dist.send(tensor=tensor, dst=other)
    else:
        dist.recv(tensor=tensor, src=0)
    print(rank, tensor.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
