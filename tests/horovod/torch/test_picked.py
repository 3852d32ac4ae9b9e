"""A loop that draws what it trains on has a part of the iterations, however that reaches its step, and tells progress by it."""

from __future__ import annotations

import pytest
from horovod.torch.programs import numbers, outcome, printed_as

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import random
import torch
from torch import nn

text = "abcdefgh" * 20
turns = 20
model = nn.Embedding(256, 256)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def encode(part):
    {encoded}


def drawn():
    {drawn}
    return encode(part[:-1]), encode(part[1:])


def train(a, b):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(a), b)
    loss.backward()
    optimizer.step()


for i in {turns}:
    {step}
    if i % 5 == 0:
        print(i, {share})
"""
ENCODED = {
    "at once": "return torch.tensor([ord(each) for each in part])",
    "one by one": "found = torch.zeros(len(part)).long()\n    for i in range(len(part)):\n        found[i] = ord(part[i])\n"
    "    return found",
}
DRAWN = {
    "a slice": "at = random.randint(0, len(text) - 9)\n    part = text[at : at + 9]",
    "a slice by its ends": "begin = random.randrange(len(text) - 9)\n    end = begin + 9\n    part = text[begin:end]",
    "by torch": "at = int(torch.randint(0, len(text) - 9, (1,)))\n    part = text[at:][:9]",
}
STEPS = {
    "spread": "train(*drawn())",
    "in variables": "a, b = drawn()\n    train(a, b)",
    "in one variable": "pair = drawn()\n    train(*pair)",
    "by name": "pair = drawn()\n    train(a=pair[0], b=pair[1])",
}
TURNS = {"from nothing": ("range(turns)", "(i + 1) / turns"), "from one": ("range(1, turns + 1)", "i / turns")}


@pytest.mark.parametrize("encoded", ENCODED)
@pytest.mark.parametrize("way", DRAWN)
@pytest.mark.parametrize("step", STEPS)
def test_drawn_batches_are_divided(encoded: str, way: str, step: str) -> None:
    turns, share = TURNS["from one"]
    parts = {"encoded": ENCODED[encoded], "drawn": DRAWN[way], "step": STEPS[step], "turns": turns, "share": share}
    found = outcome(PROGRAM.format(**parts), "ddp")
    (file,) = found.files.values()
    assert not found.plan.warnings and not found.plan.refusals
    assert "range(1, turns // dist.get_world_size() + 1)" in file.source


@pytest.mark.parametrize("counted", TURNS)
def test_progress_is_that_of_a_rank(counted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    turns, share = TURNS[counted]
    parts = {"encoded": ENCODED["at once"], "drawn": DRAWN["a slice"], "step": STEPS["spread"]}
    (file,) = outcome(PROGRAM.format(turns=turns, share=share, **parts)).files.values()
    told = [numbers(line) for line in printed_as(2, file.source, monkeypatch)]
    assert [each for each, _ in told] == ([0, 5] if counted == "from nothing" else [5, 10])
    assert all(share == pytest.approx((each + (counted == "from nothing")) / 10) for each, share in told)
