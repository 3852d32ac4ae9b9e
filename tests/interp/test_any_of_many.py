"""One of many objects, at a place that is not known, is what all of them are like. The programs run for real."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

HEAD = """import random
from collections import deque
from dataclasses import dataclass
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Row:
    x: torch.Tensor
    label: int


class Table(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class Widths:
    def __init__(self, width):
        self.width = width
        self.seen = torch.zeros(4)


rng = random.Random(0)
rows = [Row(torch.zeros(rng.randint(5, 9), 4), i) for i in range(12)]
dicts = [{"x": torch.zeros(i, 4), "y": i} for i in range(1, 12)]
lists = [[torch.zeros(4), i] for i in range(12)]
layers = nn.ModuleList([nn.Linear(4, 6) for _ in range(12)])
named = nn.ModuleDict({str(i): nn.Linear(4, 6) for i in range(12)})
place = random.randrange(11)


def use(x):
    return x @ torch.zeros(5, 1)


"""
LIKE_EACH_OTHER = (
    "use(rows[place].x)",
    "use(random.choice(rows).x)",
    "use(deque(rows)[place].x)",
    "use(dicts[place]['x'])",
    "use(lists[place][0])",
    "use(layers[place](torch.zeros(2, 4))[:, :4])",
    "use(named[str(place)](torch.zeros(2, 4))[:, :4])",
    "use(Table(rows)[place].x)",
    "for x in DataLoader(Table(dicts), batch_size=3, collate_fn=lambda items: items[0]['x']):\n    use(x)",
    "for x in DataLoader(Table(rows), batch_size=3, collate_fn=lambda items: torch.cat([r.x for r in items])):\n    use(x)",
)
UNLIKE = (
    "many = [Widths(i) for i in range(1, 12)]\none = many[place]\nuse(torch.zeros(2, one.width)) if one.width == 5 else 0",
    "many = [Widths(i) for i in range(12)]\none = many[place]\none.seen = torch.zeros(5)\nuse(many[place].seen)",
    "many = [Widths(i) for i in range(12)]\none = many[place]\nmany[place].seen = torch.zeros(5)\nuse(one.seen)",
    (
        "many = [Widths(i) for i in range(12)]\none = many[place]\n[setattr(w, 'seen', torch.zeros(5)) for w in many]\n"
        "use(one.seen)"
    ),
    "dicts[place]['x'] = torch.zeros(1, 5)\nuse(dicts[place]['x'])",
    "lists[place][0] = torch.zeros(5)\nuse(lists[place][0])",
    "lists[place].insert(0, torch.zeros(5))\nuse(lists[place][0])",
    "layers[place] = nn.Linear(4, 5)\nuse(layers[place](torch.zeros(2, 4)))",
    "rows[place].x.data = torch.zeros(2, 5)\nuse(rows[place].x)",
)


@pytest.mark.parametrize("use", LIKE_EACH_OTHER)
def test_what_all_agree_in_is_known(use: str) -> None:
    with pytest.raises(RuntimeError):
        exec(HEAD + use, {})
    assert errors_of(HEAD + use) != []
    good = HEAD.replace("zeros(5, 1)", "zeros(4, 1)") + use
    exec(good, {})
    assert errors_of(good) == []


@pytest.mark.parametrize("use", UNLIKE)
def test_what_one_of_them_got_is_not_denied(use: str) -> None:
    exec(HEAD + use, {})
    assert errors_of(HEAD + use) == []
