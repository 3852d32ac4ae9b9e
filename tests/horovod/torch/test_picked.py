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
        print({told})
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
TURNS = {"from nothing": "range(turns)", "from one": "range(1, turns + 1)", "written out": "range(20)"}
TOLD = {
    "a fraction": "i, i / {turns}",
    "a fraction from one": "i, 100.0 * (i + 1) / {turns} / 100",
    "side by side": "i, {turns}",
    "in a text": 'f"{{i}} {{{turns}}}"',
    "by format": '"{{}} {{}}".format(i, {turns})',
    "by %": '"%d %d" % (i, {turns})',
}


@pytest.mark.parametrize("encoded", ENCODED)
@pytest.mark.parametrize("way", DRAWN)
@pytest.mark.parametrize("step", STEPS)
def test_drawn_batches_are_divided(encoded: str, way: str, step: str) -> None:
    parts = {
        "encoded": ENCODED[encoded],
        "drawn": DRAWN[way],
        "step": STEPS[step],
        "turns": TURNS["from one"],
        "told": "i",
    }
    found = outcome(PROGRAM.format(**parts), "ddp")
    (file,) = found.files.values()
    assert not found.plan.warnings and not found.plan.refusals
    assert "range(1, turns // dist.get_world_size() + 1)" in file.source


@pytest.mark.parametrize("counted", TURNS)
@pytest.mark.parametrize("way", TOLD)
def test_progress_is_that_of_a_rank(counted: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"encoded": ENCODED["at once"], "drawn": DRAWN["a slice"], "step": STEPS["spread"], "turns": TURNS[counted]}
    told = TOLD[way].format(turns="20" if counted == "written out" else "turns")
    (file,) = outcome(PROGRAM.format(told=told, **parts)).files.values()
    lines = [numbers(line) for line in printed_as(2, file.source, monkeypatch)]
    assert [each for each, _ in lines] == ([5, 10] if counted == "from one" else [0, 5])
    shares = {each: (each + ("from one" in way)) / 10 if "fraction" in way else 10 for each, _ in lines}
    assert all(share == pytest.approx(shares[each]) for each, share in lines)
