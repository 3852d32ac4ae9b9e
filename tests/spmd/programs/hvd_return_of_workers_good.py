"""Workers get the result before they return."""

import horovod.torch as hvd
import torch


def best_epoch(losses):
    mean = hvd.allreduce(losses, name="losses")
    best = int(mean.argmin())
    best = hvd.broadcast_object(best, root_rank=0, name="best")
    if hvd.rank() != 0:
        return None
    return best


def main():
    hvd.init()
    losses = torch.tensor([3.0, 1.0 + hvd.rank(), 2.0])
    best = best_epoch(losses)
    hvd.allreduce(torch.zeros(1), name="end")
    if hvd.local_rank() == 0:
        print("best epoch", best)
    hvd.shutdown()


if __name__ == "__main__":
    main()
