import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(x)


print(Net()(torch.zeros(4, 128)).shape)
