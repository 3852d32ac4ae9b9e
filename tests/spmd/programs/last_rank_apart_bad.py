"""The last rank, which has no next one, does not wait like the others.

Fails: hang.
"""

import torch
import torch.distributed as dist


def pass_on(hidden, rank, world_size):
    if rank > 0:
        dist.recv(hidden, src=rank - 1)
    hidden += 1
    if rank < world_size - 1:
        dist.send(hidden, dst=rank + 1)
        dist.barrier()  # error: SPM
    return hidden


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    hidden = pass_on(torch.zeros(2), rank, world_size)
    dist.all_reduce(hidden)
    print(hidden.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
