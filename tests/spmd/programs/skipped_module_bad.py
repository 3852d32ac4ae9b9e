"""What the data say decides on each rank whether a layer takes part, so its gradient is missing on one.

Fails: error.
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(4, 4)
        self.extra = nn.Linear(4, 4)

    def forward(self, x):
        hidden = self.base(x)
        if x.mean() > 0:
            hidden = hidden + self.extra(hidden)
        return hidden


def main():
    dist.init_process_group("gloo")
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    sign = 1.0 if dist.get_rank() == 0 else -1.0
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(sign * torch.ones(2, 4)).sum()  # error: SPM?
        loss.backward()  # error: SPM?
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
