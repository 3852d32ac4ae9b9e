"""Shards differ in length; the ranks agree on the smallest and go no further."""

import itertools

import torch
import torch.distributed as dist


def agreed(count):
    steps = torch.tensor([count])
    dist.all_reduce(steps, op=dist.ReduceOp.MIN)
    return int(steps.item())


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    batches = [torch.ones(2) * index for index in range(3 + rank)]
    total = 0.0
    for batch in itertools.islice(batches, agreed(len(batches))):
        mean = batch.mean()
        dist.all_reduce(mean)
        total += mean.item()
    print(total)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
