"""Layers that are made for a width by subscription: `Block[64]` is a class of its own."""

import torch
from torch import Tensor, nn


class Block(nn.Module):
    width: int = 0

    def __class_getitem__(cls, width: int) -> type["Block"]:
        return type(f"{cls.__name__}{width}", (cls,), {"width": width})

    def __init__(self, expansion: int = 2) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(self.width)
        self.inner = nn.Sequential(
            nn.Linear(self.width, expansion * self.width), nn.GELU(), nn.Linear(expansion * self.width, self.width)
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(self.norm(x))


def main() -> None:
    torch.manual_seed(0)
    stem = nn.Linear(10, 48)
    body = nn.Sequential(Block[48](), Block[48](expansion=4))
    head = nn.Linear(48, 5)
    print(head(body(stem(torch.randn(8, 10)))).shape)


if __name__ == "__main__":
    main()
