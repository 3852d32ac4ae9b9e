"""Each rank stops on the loss of its own shard.

Fails: hang.
"""

import torch
import torch.distributed as dist


class EarlyStopping:
    def __init__(self, patience=2):
        self.patience, self.best, self.bad_epochs = patience, float("inf"), 0

    def step(self, value):
        if value < self.best:
            self.best, self.bad_epochs = value, 0
        else:
            self.bad_epochs += 1
        return self.bad_epochs >= self.patience


def validation_loss(epoch, rank):
    """The shard of rank 1 gets better for longer."""
    return torch.tensor(max(4.0 - epoch, 3.0 - 2.0 * rank))


def main():
    dist.init_process_group("gloo")
    stopping = EarlyStopping()
    for epoch in range(10):
        gradient = torch.ones(3)
        dist.all_reduce(gradient)  # error: SPM
        loss = validation_loss(epoch, dist.get_rank())
        if stopping.step(loss.item()):
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
