"""Each process stops on its own validation loss.

Fails: hang.
"""

import horovod.torch as hvd
import torch


def validation_loss(epoch):
    return torch.tensor([1.0 / (epoch + 1) if hvd.rank() == 0 else 0.5])


def main(epochs=6):
    hvd.init()
    best = float("inf")
    for epoch in range(epochs):
        gradient = hvd.allreduce(torch.ones(4), name="gradient")  # error: SPM
        loss = validation_loss(epoch)
        if loss.item() >= best:
            break
        best = loss.item()
        if hvd.rank() == 0:
            print(f"epoch {epoch}: {best:.3f} {gradient.sum().item():.1f}")
    hvd.allgather(torch.tensor([best]))  # error: SPM?
    hvd.shutdown()


if __name__ == "__main__":
    main()
