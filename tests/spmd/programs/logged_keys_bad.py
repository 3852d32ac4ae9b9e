"""Rank 0 logs one value more, and each logged value is reduced.

Fails: hang.
"""

import torch
import torch.distributed as dist


class MetricLogger:
    def __init__(self):
        self.values = {}

    def update(self, **values):
        for name, value in values.items():
            self.values[name] = torch.tensor(float(value))

    def synchronize(self):
        for value in self.values.values():
            dist.all_reduce(value)  # error: SPM?


def main():
    dist.init_process_group("gloo")
    logger = MetricLogger()
    for step in range(2):
        logger.update(loss=1.0 / (step + 1), accuracy=0.5)
        if dist.get_rank() == 0:
            logger.update(learning_rate=0.1)
        logger.synchronize()  # error: SPM?
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
