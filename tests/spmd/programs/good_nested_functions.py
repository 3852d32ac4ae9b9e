"""A function made by another function; the barrier is behind what the decorator guards."""

import functools

import torch
import torch.distributed as dist


def main_process_first(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        result = None
        if dist.get_rank() == 0:
            result = function(*args, **kwargs)
        dist.barrier()
        if dist.get_rank() != 0:
            result = function(*args, **kwargs)
        return result

    return wrapped


def main():
    dist.init_process_group("gloo")

    @main_process_first
    def build(size):
        return torch.ones(size)

    table = build(3)
    dist.all_reduce(table)
    print(table.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
