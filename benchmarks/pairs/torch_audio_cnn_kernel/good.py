"""Keyword spotting on raw audio with 1-d convolutions."""
import argparse

import torch
from torch import nn


class AudioNet(nn.Module):
    def __init__(self, classes, width, stride):
        super().__init__()
        self.conv1 = nn.Conv1d(1, width, kernel_size=40, stride=stride)
        self.bn1 = nn.BatchNorm1d(width)
        self.pool1 = nn.MaxPool1d(4)
        self.conv2 = nn.Conv1d(width, 2 * width, kernel_size=5)
        self.bn2 = nn.BatchNorm1d(2 * width)
        self.fc = nn.Linear(2 * width, classes)

    def forward(self, wave):
        x = self.pool1(torch.relu(self.bn1(self.conv1(wave))))
        x = torch.relu(self.bn2(self.conv2(x)))
        x = x.mean(dim=-1)
        return self.fc(x)


def tone(frequency, samples, rate=8000):
    t = torch.arange(samples) / rate
    return torch.sin(2 * torch.pi * frequency * t)


def dataset(samples):
    waves = torch.stack([tone(f, samples) for f in (220, 440, 880, 1760)])
    return waves.unsqueeze(1), torch.arange(4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", default=400, type=int)
    parser.add_argument("--stride", default=8, type=int)
    parser.add_argument("--width", default=12, type=int, help="channels of the first layer")
    options = vars(parser.parse_args())
    torch.manual_seed(0)
    waves, labels = dataset(options.pop("samples"))
    model = AudioNet(classes=4, **options)
    loss = nn.functional.cross_entropy(model(waves), labels)
    print("loss", round(loss.item(), 3))


main()
