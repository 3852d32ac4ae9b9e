"""A generator yields as many files to each rank, the last ones empty."""

import torch
import torch.distributed as dist

FILES = ["a.txt", "bb.txt", "ccc.txt"]


def my_files(rank, world_size):
    for start in range(0, len(FILES), world_size):
        number = start + rank
        yield FILES[number] if number < len(FILES) else ""


def main():
    dist.init_process_group("gloo")
    processed = 0
    for name in my_files(dist.get_rank(), dist.get_world_size()):
        length = torch.tensor([len(name)])
        dist.all_reduce(length)
        processed += int(length)
    print(processed)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
