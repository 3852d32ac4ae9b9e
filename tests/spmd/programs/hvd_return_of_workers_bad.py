"""Workers return before they meet the first process in `broadcast_object`.

Fails: hang.
"""

import horovod.torch as hvd
import torch


def best_epoch(losses):
    mean = hvd.allreduce(losses, name="losses")
    if hvd.rank() != 0:
        return None
    best = int(mean.argmin())
    return hvd.broadcast_object(best, root_rank=0, name="best")  # error: SPM


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
