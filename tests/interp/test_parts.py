"""Parameters and modules that a module hands out may be changed by the code in sight. The programs run for real."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, shown

LARGER = "torch.zeros(*(n + 1 for n in p.shape))"
CHANGES = (
    f"p.data = {LARGER}",
    f"p.data, done = {LARGER}, True",
    f"with torch.no_grad():\n        p.set_({LARGER})",
    "widen(p)",
)
WAYS = (
    "for p in net.parameters():\n    CHANGE",
    "for _, p in net.named_parameters():\n    CHANGE",
    "kept = list(net.parameters())\nfor p in kept:\n    CHANGE",
    "for p in [*net.parameters()]:\n    CHANGE",
    "for name in ('weight', 'bias'):\n    p = layer.get_parameter(name)\n    CHANGE",
    "groups = torch.optim.SGD(net.parameters(), lr=0.1).param_groups\nfor p in groups[0]['params']:\n    CHANGE",
    "def change(part):\n  for p in part.parameters():\n    CHANGE\nchange(layer)",
)
PROGRAM = """import torch
from torch import nn


def widen(p):
    p.data = torch.zeros(*(n + 1 for n in p.shape))


layer = nn.Linear(4, 5)
net = nn.Sequential(layer)
WAY
net(torch.zeros(2, 5))
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES)
def test_parameters_that_are_handed_out_may_get_other_sizes(way: str, change: str) -> None:
    program = PROGRAM.replace("WAY", way.replace("CHANGE", change))
    exec(program, {})
    assert [shown(finding) for finding in errors_of(program)] == []


@pytest.mark.parametrize("change", ["p.data -= 1", "p.requires_grad = False", "p.data.zero_()", "nn.init.zeros_(p)"])
def test_what_keeps_their_sizes_keeps_what_is_known(change: str) -> None:
    program = PROGRAM[: PROGRAM.index("def widen")] + PROGRAM[PROGRAM.index("layer =") :]
    program = program.replace("WAY", f"for p in net.parameters():\n    {change}")
    assert [finding.code for finding in errors_of(program)] == ["SHP401"]
