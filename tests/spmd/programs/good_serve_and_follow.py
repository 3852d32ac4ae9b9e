"""Two functions for two kinds of ranks, with the same collectives in the same order."""

import torch
import torch.distributed as dist


def lead(steps):
    order = torch.tensor([steps])
    dist.broadcast(order, src=0)
    result = torch.zeros(1)
    for step in range(steps):
        result += step
        dist.all_reduce(result)
    return result


def follow():
    order = torch.zeros(1, dtype=torch.int64)
    dist.broadcast(order, src=0)
    result = torch.zeros(1)
    for _ in range(int(order)):
        dist.all_reduce(result)
    return result


def main():
    dist.init_process_group("gloo")
    result = lead(3) if dist.get_rank() == 0 else follow()
    print(result.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
