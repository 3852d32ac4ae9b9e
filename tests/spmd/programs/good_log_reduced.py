"""What rank 0 logs was reduced by all ranks before."""

import torch
import torch.distributed as dist


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    def synchronize(self):
        if not (dist.is_available() and dist.is_initialized()):
            return
        totals = torch.tensor([self.sum, self.count], dtype=torch.float64)
        dist.barrier()
        dist.all_reduce(totals)
        self.sum, self.count = totals.tolist()

    @property
    def average(self):
        return self.sum / max(self.count, 1)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    meter = AverageMeter()
    for step in range(5):
        meter.update(1.0 / (step + 1 + rank), n=4 + rank)
        if step % 2 == 0:
            meter.synchronize()
            if rank == 0:
                print(f"step {step}: {meter.average:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
