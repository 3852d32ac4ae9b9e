"""All ranks reduce in single precision; rank 0 rounds what it shows."""

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dtype = torch.float32
    losses = torch.ones(1000, dtype=dtype)
    dist.all_reduce(losses)
    mean = losses / dist.get_world_size()
    if rank == 0:
        print(mean.half().mean().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
