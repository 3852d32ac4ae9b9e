"""Slices, seeds, names of files and devices follow the rank; the number of steps does not."""

import os

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1234 + rank)
    device = torch.device(f"cuda:{rank}" if torch.cuda.is_available() else "cpu")
    os.makedirs(f"out/{rank}", exist_ok=True)
    data = torch.arange(16.0, device=device)
    per_rank = len(data) // world_size
    mine = data[rank * per_rank : (rank + 1) * per_rank]
    for start in range(0, per_rank, 2):
        chunk = mine[start : start + 2].sum()
        dist.all_reduce(chunk)
        torch.save(chunk, f"out/{rank}/{start}.pt")
    print(len(os.listdir(f"out/{rank}")))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
