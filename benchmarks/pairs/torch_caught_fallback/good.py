"""Feature pyramid that copes with odd image sizes."""
import torch
from torch import nn
import torch.nn.functional as F


def add_with_resize(upsampled, lateral):
    """Adds two maps; resizes the first when an odd size made them differ."""
    try:
        return upsampled + lateral
    except RuntimeError:
        return F.interpolate(upsampled, size=lateral.shape[-2:]) + lateral


class Pyramid(nn.Module):
    def __init__(self, widths=(8, 16, 24), out=12, robust=True):
        super().__init__()
        self.robust = robust
        self.downs, self.laterals = nn.ModuleList(), nn.ModuleList()
        previous = 3
        for width in widths:
            self.downs.append(nn.Conv2d(previous, width, 3, stride=2, padding=1))
            self.laterals.append(nn.Conv2d(width, out, 1))
            previous = width

    def forward(self, x):
        maps = []
        for down, lateral in zip(self.downs, self.laterals):
            x = F.relu(down(x))
            maps.append(lateral(x))
        merged = [maps.pop()]
        while maps:
            lateral = maps.pop()
            upsampled = F.interpolate(merged[-1], scale_factor=2)
            if self.robust:
                merged.append(add_with_resize(upsampled, lateral))
            else:
                merged.append(upsampled + lateral)
        return merged[::-1]


def main():
    torch.manual_seed(0)
    for size, robust in ((64, True), (50, True), (64, False), (48, False)):
        levels = Pyramid(robust=robust)(torch.rand(1, 3, size, size))
        print(size, robust, [tuple(level.shape[-2:]) for level in levels])


if __name__ == "__main__":
    main()
