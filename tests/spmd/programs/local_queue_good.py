"""Ranks go on while anybody has something in its queue."""

from collections import deque

import torch
import torch.distributed as dist


def anybody(flag):
    vote = torch.tensor([int(bool(flag))])
    dist.all_reduce(vote, op=dist.ReduceOp.MAX)
    return bool(vote.item())


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    queue = deque(range(2 + 3 * rank))
    progress = 0
    while anybody(queue):
        item = queue.popleft() if queue else 0
        total = torch.tensor([item])
        dist.all_reduce(total)
        progress += int(total)
    print(progress)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
