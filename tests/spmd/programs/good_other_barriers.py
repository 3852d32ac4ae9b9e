"""Methods named like collectives, of objects that know no other process."""

import threading

import torch
import torch.distributed as dist


class Statistics:
    def __init__(self):
        self.values = []

    def all_reduce(self):
        return sum(self.values)

    def barrier(self):
        self.values.append(1.0)

    def gather(self, *values):
        self.values.extend(values)


def main():
    dist.init_process_group("gloo")
    statistics, alone = Statistics(), threading.Barrier(1)
    if dist.get_rank() == 0:
        statistics.barrier()
        statistics.gather(2.0, 3.0)
        alone.wait()
        print(statistics.all_reduce(), torch.ones(2, 2).gather(1, torch.zeros(2, 1, dtype=torch.int64)).shape)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
