"""Convolutional building blocks shared by the regression scripts."""
from torch import nn


def conv_bn(inp, out, stride=1):
    return nn.Sequential(
        nn.Conv2d(inp, out, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(out),
        nn.ReLU(),
    )


class ConvEncoder(nn.Module):
    """Halves the picture once for every width."""

    def __init__(self, channels, widths):
        super().__init__()
        self.first_width, *_ = widths
        self.out_channels = widths[-1]
        steps = []
        for width in widths:
            steps.append(conv_bn(channels, width, stride=2))
            channels = width
        self.steps = nn.Sequential(*steps)

    def forward(self, x):
        return self.steps(x)


def global_pool(features):
    return features.mean(dim=(-2, -1))
