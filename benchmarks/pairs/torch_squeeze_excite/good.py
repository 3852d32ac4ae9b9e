"""Squeeze-and-excitation blocks in a MobileNet-like network."""
import torch
import torch.nn as nn


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduction=4):
        super().__init__()
        squeezed = max(1, channels // reduction)
        self.fc = nn.Sequential(
            nn.Linear(channels, squeezed),
            nn.ReLU(),
            nn.Linear(squeezed, channels),
            nn.Sigmoid(),
        )

    def forward(self, x):
        b, c, _, _ = x.size()
        scale = x.mean(dim=[2, 3])
        scale = self.fc(scale).view(b, c, 1, 1)
        return x * scale


class InvertedResidual(nn.Module):
    def __init__(self, inp, out, *, stride, expand):
        super().__init__()
        hidden = inp * expand
        self.use_residual = stride == 1 and inp == out
        self.conv = nn.Sequential(
            nn.Conv2d(inp, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.Hardswish(),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            SqueezeExcite(hidden),
            nn.Conv2d(hidden, out, 1, bias=False),
        )

    def forward(self, x):
        y = self.conv(x)
        return x + y if self.use_residual else y


SETTINGS = [
    # out, stride, expand
    (12, 2, 3),
    (12, 1, 2),
    (16, 2, 2),
]


def build(channels=8):
    layers = [nn.Conv2d(3, channels, 3, padding=1)]
    for out, stride, expand in SETTINGS:
        layers.append(InvertedResidual(channels, out, stride=stride, expand=expand))
        channels = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


if __name__ == "__main__":
    network = build()
    print(network(torch.randn(2, 3, 20, 20)).shape)
