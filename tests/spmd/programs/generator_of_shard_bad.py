"""A generator yields the files of a rank, and their number differs.

Fails: hang.
"""

import torch
import torch.distributed as dist

FILES = ["a.txt", "bb.txt", "ccc.txt"]


def my_files(rank, world_size):
    for number, name in enumerate(FILES):
        if number % world_size == rank:
            yield name


def main():
    dist.init_process_group("gloo")
    processed = 0
    for name in my_files(dist.get_rank(), dist.get_world_size()):
        length = torch.tensor([len(name)])
        dist.all_reduce(length)  # error: SPM
        processed += int(length)
    print(processed)
    dist.barrier()  # error: SPM?
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
