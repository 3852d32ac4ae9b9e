"""Source nested in every way: each command answers, or names the file and says that it is nested too deeply; none fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.cli.main import main
from distml.rewrites import tree

from engine.nested import KINDS, parses

pytestmark = pytest.mark.requires("distml.interp.check")

HEAD = "import torch\n"
TAIL = """
import torch
def f(x: torch.Tensor):
    if x.shape[0] > 3:
        return x
    return x @ torch.zeros(4, 5)
model = torch.nn.Linear(3, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    optimizer.zero_grad()
    model(torch.zeros(2, 3)).sum().backward()
    optimizer.step()
"""
COMMANDS = {
    "migrate": ["migrate", "a.py::f"],
    "branches": ["branches", "a.py::f"],
    "horovod": ["horovod", "--diff", "a.py"],
    "project": ["project", "a.py"],
    "run": ["run", "a.py"],
    "fix": ["check", "--fix", "--no-cache", "--jobs", "0", "--select", "SRC", "a.py"],
}
REWRITTEN = {
    "migrate-diff": ["migrate", "--diff", "a.py::f"],
    "branches-diff": ["branches", "--diff", "--where", "x.shape[0] > 5", "a.py::f"],
}


DEEP = ["ternaries", "ternaries-left", "and-or", "not", "fstring-deep", "decorator-chain", "elifs-calls", "imports"]
"""Kinds that each end another way: in Python's parser, in ours, in LibCST; the last nowhere, however deep it is."""
WORST = ["patterns-seq", "slices", "annotations"]
"""Kinds for which LibCST takes time that doubles with each level, or overflows its stack."""


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_SECONDS", 1)


def check(kind: str, depth: int, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = HEAD + KINDS[kind](depth) + TAIL
    Path("a.py").write_text(text)
    code = main(command)
    said, errors = capsys.readouterr()
    assert code in {0, 1, 2}, kind
    assert "SRC2" not in errors and "failed" not in errors and "Error" not in errors, (kind, errors)
    if code == 2:
        assert errors.startswith("distml: error: ") and errors.count("\n") == 1 and "a.py" in errors, (kind, errors)
        reasons = ("nested", "too many", "has no", "no choreography")
        assert any(reason in errors for reason in reasons), (kind, errors)
    if not parses(text):
        assert "too many" in said + errors or "too deeply" in said + errors, (kind, said, errors)


@pytest.mark.usefixtures("folder", "_hurried")
@pytest.mark.parametrize("name", COMMANDS)
def test_nesting_never_fails_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in DEEP:
        check(kind, 600 if kind == "imports" else 2400, COMMANDS[name], capsys)


@pytest.mark.usefixtures("folder", "_hurried")
@pytest.mark.parametrize("name", REWRITTEN)
def test_nesting_never_fails_a_rewriting(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in WORST:
        check(kind, 90, REWRITTEN[name], capsys)
    check("and", 2400, REWRITTEN[name], capsys)
