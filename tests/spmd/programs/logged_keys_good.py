"""The value that rank 0 alone has is added after the others are reduced."""

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
            dist.all_reduce(value)


def main():
    dist.init_process_group("gloo")
    logger = MetricLogger()
    for step in range(2):
        logger.update(loss=1.0 / (step + 1), accuracy=0.5)
        logger.synchronize()
        if dist.get_rank() == 0:
            print("learning rate", 0.1, logger.values)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
