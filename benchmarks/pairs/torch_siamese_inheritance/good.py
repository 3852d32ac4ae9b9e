"""Siamese verification with interchangeable backbones."""
import abc

import torch
from torch import nn


class Backbone(nn.Module, abc.ABC):
    def __init__(self):
        super().__init__()
        self.body = self.make_body()

    @abc.abstractmethod
    def make_body(self): ...

    @property
    def feature_dim(self):
        return 64

    def forward(self, x):
        return self.body(x)


class MLPBackbone(Backbone):
    def make_body(self):
        return nn.Sequential(nn.Flatten(), nn.Linear(100, 64), nn.ReLU())


class ConvBackbone(Backbone):
    def make_body(self):
        return nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(8 * 4 * 4, 48),
        )

    @property
    def feature_dim(self):
        return 48

    def extra_repr(self):
        return f"features={self.feature_dim}"


class Siamese(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.compare = nn.Linear(2 * backbone.feature_dim, 1)

    def forward(self, left, right):
        a, b = self.backbone(left), self.backbone(right)
        pair = torch.cat([(a - b).abs(), a * b], dim=1)
        return self.compare(pair).flatten()


def main():
    torch.manual_seed(0)
    left, right = torch.rand(2, 6, 1, 10, 10)
    same = torch.tensor([1.0, 0, 1, 0, 1, 0])
    for factory in (MLPBackbone, ConvBackbone):
        network = Siamese(factory())
        loss = nn.functional.binary_cross_entropy_with_logits(network(left, right), same)
        print(factory.__name__, round(loss.item(), 4))


if __name__ == "__main__":
    main()
