"""Rank 0 hands out tasks to ranks that wait for them in a loop, and tells them when to end.

Ends.
"""

import sys

import torch.distributed as dist


class Pool:
    def __init__(self):
        self.rank = dist.get_rank()
        self.done = []

    def wait(self):
        while True:
            message = [None]
            dist.broadcast_object_list(message, src=0)
            if message[0] is None:
                dist.destroy_process_group()
                sys.exit(0)
            self.done.append(message[0])

    def apply(self, task):
        if self.rank != 0:
            self.wait()
            sys.exit(0)
        dist.broadcast_object_list([task], src=0)
        self.done.append(task)

    def close(self):
        if self.rank == 0:
            dist.broadcast_object_list([None], src=0)


def main():
    dist.init_process_group("gloo")
    pool = Pool()
    for task in ("a", "b"):
        pool.apply(task)
    pool.close()
    print(pool.done)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
