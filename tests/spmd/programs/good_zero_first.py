"""The main process goes first through a block, the others wait, and each waits once."""

import pathlib
from contextlib import contextmanager

import torch
import torch.distributed as dist


@contextmanager
def torch_distributed_zero_first(local_rank: int):
    if local_rank not in [-1, 0]:
        dist.barrier()
    yield
    if local_rank == 0:
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    with torch_distributed_zero_first(rank):
        cache = pathlib.Path("cache.txt")
        if not cache.exists():
            cache.write_text("1 2 3")
        data = torch.tensor([float(word) for word in cache.read_text().split()])
    dist.all_reduce(data)
    print(data.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
