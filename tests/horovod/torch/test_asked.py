"""What a person is asked, rank 0 asks, and all ranks go on with the answer."""

from __future__ import annotations

import pytest
from horovod.torch.programs import printed_as, rewritten

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
{asked}
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
"""
ASKED = {
    "a value": "found = input('epochs: ')",
    "a number": "found = int(input('epochs: '))",
    "in a condition": "if input('go on? ') == 'y':\n    found = 1",
    "in a function": "def ask(text):\n    return input(text)\n\nfound = ask('name: ')",
}


@pytest.mark.parametrize("asked", ASKED)
def test_rank_zero_alone_asks(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = rewritten(PROGRAM.format(asked=ASKED[asked]))
    assert source.count("if hvd.rank() == 0 else None, root_rank=0)") == 1
    seen: list[int] = []
    monkeypatch.setattr("builtins.input", lambda *_: seen.append(1) or "3")
    printed_as(2, source, monkeypatch)
    assert seen == [1]


PAUSED = """
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    {asked}
"""
PAUSES = {
    "a pause": ("input()", "    if hvd.rank() == 0:\n        input()"),
    "a pause that a file decides": (
        "if os.path.exists('pause'):\n        input('go on')",
        "    if os.path.exists('pause'):\n        if hvd.rank() == 0:\n            input('go on')",
    ),
    "a question that a file decides": (
        "if os.path.exists('ask'):\n        found = input('go on')",
        "    if hvd.broadcast_object(bool(os.path.exists('ask')), root_rank=0):\n",
    ),
}


@pytest.mark.parametrize("what", PAUSES)
def test_all_ranks_come_to_a_question_and_none_waits_alone(what: str) -> None:
    """Where a file decides, one rank may find it and the other not: what nothing answers asks nothing of the others."""
    asked, becomes = PAUSES[what]
    source = rewritten("import os\n" + PROGRAM.format(asked="") + PAUSED.format(asked=asked))
    assert becomes in source
    assert ("broadcast_object(input" in source) is ("question" in what)
