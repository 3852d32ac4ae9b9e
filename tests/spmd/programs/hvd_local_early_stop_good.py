"""Processes stop on the average of their validation losses."""

import horovod.torch as hvd
import torch


def validation_loss(epoch):
    return torch.tensor([1.0 / (epoch + 1) if hvd.rank() == 0 else 0.5])


def main(epochs=6):
    hvd.init()
    best = float("inf")
    for epoch in range(epochs):
        gradient = hvd.allreduce(torch.ones(4), name="gradient")
        loss = validation_loss(epoch)
        loss = hvd.allreduce(loss, name="loss")
        if loss.item() >= best:
            break
        best = loss.item()
        if hvd.rank() == 0:
            print(f"epoch {epoch}: {best:.3f} {gradient.sum().item():.1f}")
    hvd.allgather(torch.tensor([best]))
    hvd.shutdown()


if __name__ == "__main__":
    main()
