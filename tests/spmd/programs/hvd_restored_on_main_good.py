"""The first process restores; all take part in the broadcast."""

import os

import horovod.torch as hvd
import torch


def restore(model, path):
    if hvd.rank() == 0 and os.path.exists(path):
        model.load_state_dict(torch.load(path))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)


def main():
    hvd.init()
    path = "last.pt"
    model = torch.nn.Linear(2, 1)
    if hvd.rank() == 0:
        torch.save(model.state_dict(), path)
    restore(model, path)
    loss = model(torch.ones(1, 2)).detach()
    hvd.allreduce(loss, name="loss")
    hvd.shutdown()


if __name__ == "__main__":
    main()
