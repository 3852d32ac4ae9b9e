"""The others wait until the main process has prepared the data; it never says so.

Fails: hang.
"""

import pathlib
from contextlib import contextmanager

import torch
import torch.distributed as dist


@contextmanager
def torch_distributed_zero_first(local_rank):
    if local_rank not in (-1, 0):
        dist.barrier()  # error: SPM?
    yield


def load_dataset(path):
    cache = pathlib.Path(path)
    if not cache.exists():
        cache.write_text("1 2 3 4")
    return torch.tensor([float(word) for word in cache.read_text().split()])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    with torch_distributed_zero_first(rank):  # error: SPM?
        data = load_dataset("cache.txt")
    mean = data.mean()
    dist.all_reduce(mean)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
