"""`verbose` is 1 on the first process only, and gathering depends on it.

Fails: hang.
"""

import horovod.torch as hvd
import torch


def evaluate(predictions, verbose):
    if verbose:
        everything = hvd.allgather(predictions, name="predictions")  # error: SPM?
        print(everything.shape[0], "predictions")


def main():
    hvd.init()
    verbose = 1 if hvd.rank() == 0 else 0
    predictions = torch.arange(4.0) + hvd.rank()
    evaluate(predictions, verbose)  # error: SPM?
    hvd.allreduce(predictions, name="end")
    hvd.shutdown()


if __name__ == "__main__":
    main()
