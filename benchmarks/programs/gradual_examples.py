"""Small models that are migrated by distml and, traced, by torch.fx's own tool."""

import torch
from torch import nn
from torch.fx.tensor_type import Dyn, TensorType


class BmmExample(nn.Module):
    """A batched product whose declared sizes cannot be contracted."""

    def forward(self, x: TensorType([Dyn, 2, 3]), y: TensorType([Dyn, 4, 5])):
        return torch.bmm(x, y)


class OpenBmm(nn.Module):
    """One batched product: both inputs have three axes, tied to each other."""

    def forward(self, x: Dyn, y: Dyn):
        return torch.bmm(x, y)


class IllTyped(nn.Module):
    """An annotation of two axes for what a convolution takes."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 2, kernel_size=2, stride=2, padding=2, bias=False)
        self.second = nn.Conv2d(4, 2, kernel_size=2, stride=2, padding=2, bias=False)

    def forward(self, x: TensorType([Dyn, Dyn])):
        self.first(x)
        return self.second(x)


class DynOnly(nn.Module):
    """Two convolutions that need different numbers of channels of one input."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 2, kernel_size=2, stride=2, padding=2, bias=False)
        self.second = nn.Conv2d(4, 2, kernel_size=2, stride=2, padding=2, bias=False)

    def forward(self, x: TensorType([Dyn, Dyn, Dyn, Dyn])):
        self.first(x)
        return self.second(x)


class Repaired(nn.Module):
    """The same with convolutions that agree."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 2, kernel_size=2, stride=2, padding=2, bias=False)
        self.second = nn.Conv2d(4, 2, kernel_size=2, stride=2, padding=2, bias=False)

    def forward(self, x: TensorType([Dyn, Dyn, Dyn, Dyn])):
        self.first(x)
        return self.second(x)
