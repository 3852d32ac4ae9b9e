"""Rank 0 hands out tasks, and the others leave: nobody waits for them.

Fails: hang.
"""

import sys

import torch.distributed as dist


class Pool:
    def __init__(self):
        self.rank = dist.get_rank()
        self.done = []

    def apply(self, task):
        if self.rank != 0:
            sys.exit(0)
        dist.broadcast_object_list([task], src=0)  # error: SPM
        self.done.append(task)

    def close(self):
        if self.rank == 0:
            dist.broadcast_object_list([None], src=0)  # error: SPM?


def main():
    dist.init_process_group("gloo")
    dist.barrier()  # who leaves before all are connected ends the others
    pool = Pool()
    for task in ("a", "b"):
        pool.apply(task)
    pool.close()
    print(pool.done)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
