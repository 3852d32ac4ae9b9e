"""Ranks do different work of different length before they meet."""

import torch
import torch.distributed as dist


def local_work(rank):
    total = torch.zeros(1)
    for index in range(rank * 5):
        if index % 2:
            continue
        total += index
    if rank % 2 == 0:
        return total - 1
    return total


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    assert rank < 8, "at most eight ranks"
    if dist.get_world_size() < 2:
        raise SystemExit("this needs two ranks")
    result = local_work(rank)
    dist.all_reduce(result)
    print(result.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
