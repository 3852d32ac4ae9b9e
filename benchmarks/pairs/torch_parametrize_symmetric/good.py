"""A small energy network whose mixing matrix is kept symmetric by a parametrization."""

import torch
import torch.nn.utils.parametrize as parametrize
from torch import Tensor, nn


class Symmetric(nn.Module):
    def forward(self, weight: Tensor) -> Tensor:
        return weight.triu() + weight.triu(1).transpose(-1, -2)


class Energy(nn.Module):
    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.lift = nn.Linear(inputs, hidden)
        self.mix = nn.Linear(hidden, hidden, bias=False)
        parametrize.register_parametrization(self.mix, "weight", Symmetric())

    def forward(self, points: Tensor) -> Tensor:
        lifted = torch.tanh(self.lift(points))
        return (lifted * self.mix(lifted)).sum(-1)


def main() -> None:
    torch.manual_seed(0)
    model = Energy(inputs=3, hidden=16)
    points = torch.randn(40, 3, requires_grad=True)
    energy = model(points)
    (forces,) = torch.autograd.grad(energy.sum(), points)
    print(energy.shape, forces.shape)


if __name__ == "__main__":
    main()
