"""ConvNeXt-style stages with channel-last normalisation."""
from functools import partial

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, expand=4, norm_layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = norm_layer(dim)
        self.pw1 = nn.Linear(dim, expand * dim)
        self.pw2 = nn.Linear(expand * dim, dim)
        self.gamma = nn.Parameter(1e-6 * torch.ones(dim))

    def forward(self, x):
        shortcut = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.norm(x)
        x = self.pw2(nn.functional.gelu(self.pw1(x)))
        x = (self.gamma * x).permute(0, 3, 1, 2)
        return shortcut + x


class ConvNeXt(nn.Module):
    def __init__(self, depths=(1, 2), dims=(16, 24), classes=10):
        super().__init__()
        stages, previous = [], 3
        for depth, dim in zip(depths, dims):
            patch = 4 if previous == 3 else 2
            stages.append(nn.Conv2d(previous, dim, kernel_size=patch, stride=patch))
            stages.extend(Block(dim) for _ in range(depth))
            previous = dim
        self.stages = nn.Sequential(*stages)
        self.norm = nn.LayerNorm(previous)
        self.head = nn.Linear(previous, classes)

    def forward(self, x):
        x = self.stages(x)
        return self.head(self.norm(x.mean([-2, -1])))


print(ConvNeXt()(torch.randn(1, 3, 56, 56)).shape)
