"""Inception block: four branches over the same input, joined on the channels."""
import torch
from torch import nn


class ConvUnit(nn.Module):
    def __init__(self, inp, out, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(inp, out, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out, eps=0.001)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)))


class Inception(nn.Module):
    def __init__(self, inp, c1, c3, c5, pool):
        super().__init__()
        self.branch1 = ConvUnit(inp, c1, kernel_size=1)
        self.branch3 = nn.Sequential(
            ConvUnit(inp, c3[0], kernel_size=1),
            ConvUnit(c3[0], c3[1], kernel_size=3, padding=1),
        )
        self.branch5 = nn.Sequential(
            ConvUnit(inp, c5[0], kernel_size=1),
            ConvUnit(c5[0], c5[1], kernel_size=5, padding=2),
        )
        self.branch_pool = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1),
            ConvUnit(inp, pool, kernel_size=1),
        )
        self.out_channels = c1 + c3[1] + c5[1] + pool

    def _branches(self):
        return (self.branch1, self.branch3, self.branch5, self.branch_pool)

    def forward(self, x):
        outputs = [branch(x) for branch in self._branches()]
        return torch.cat(outputs, dim=1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Inception(3, 8, (4, 8), (2, 4), 4)
        self.second = Inception(self.first.out_channels, 8, (6, 12), (2, 4), 4)
        self.fc = nn.Linear(self.second.out_channels, 10)

    def forward(self, x):
        x = self.second(self.first(x))
        return self.fc(x.mean((2, 3)))


if __name__ == "__main__":
    print(Net().eval()(torch.randn(2, 3, 12, 12)).argmax(1))
