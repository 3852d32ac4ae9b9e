"""Lists, tuples and sets with starred parts, whose number is known or not: what fails is found, what runs is not accused.

Each program is run for real, with three rows.
"""

from __future__ import annotations

import itertools

import pytest

from interp.programs import errors_of, runs

SETUP = """
import sys
import torch

n = len(sys.argv) + 2 if ROWS else 3
x = torch.zeros(n, 5)
parts = [torch.zeros(5) for _ in range(n)]
"""
DISPLAYS = [
    "[*x]",
    "[*x, *x]",
    "[*parts]",
    "[torch.ones(5), *parts]",
    "[*parts, torch.ones(5)]",
    "(*x,)",
    "[*map(torch.relu, x)]",
]
DISPLAYS += ["[*(row * 2 for row in x)]", "[*[], *x]", "[*x, *[]]", "[*x, torch.ones(4)]", "[*x, 3]", "[*range(3), *x]"]
USES = [
    "torch.stack({}) @ torch.zeros(5, 2)",
    "torch.stack({}) @ torch.zeros(4, 2)",
    "for row in {}:\n    row + torch.zeros(5)",
    "for row in {}:\n    row + torch.zeros(4)",
    "{}[0] + torch.zeros(4)",
    "{}[-1] + torch.zeros(5)",
    "sum({}) + torch.zeros(3)",
]


@pytest.mark.requires("torch")
@pytest.mark.parametrize("display", DISPLAYS)
def test_what_runs_is_not_accused(display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["program"])
    for rows, use in itertools.product((False, True), USES):
        text = f"ROWS = {rows}\n{SETUP}\n{use.format(display)}\n"
        assert not runs(text) or not errors_of(text), text


@pytest.mark.requires("torch")
def test_what_fails_is_found() -> None:
    for rows, display in itertools.product(
        (False, True), ("[*x]", "[*x, *x]", "[*map(torch.relu, x)]", "[*(r * 2 for r in x)]")
    ):
        for use in (USES[1], USES[3]):
            text = f"ROWS = {rows}\n{SETUP}\n{use.format(display)}\n"
            assert not runs(text) and errors_of(text), text
