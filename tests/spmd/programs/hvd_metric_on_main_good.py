"""All processes average the metric, the first one prints it."""

import horovod.torch as hvd
import torch


def metric_average(value, name):
    return hvd.allreduce(torch.tensor(value), name=name).item()


def main():
    hvd.init()
    torch.manual_seed(hvd.rank())
    model = torch.nn.Linear(2, 1)
    accuracy = float(model(torch.ones(1, 2)).item() > 0)
    average = metric_average(accuracy, "accuracy")
    if hvd.rank() == 0:
        print("accuracy", average)
    hvd.allreduce(torch.ones(1), name="end")
    hvd.shutdown()


if __name__ == "__main__":
    main()
