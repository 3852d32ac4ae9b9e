"""The renaming law over all literate cases: what the user calls things decides no edit, only what it is.

A case whose edits depend on a name, on how an import is written or on the order of independent statements is found here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from distml.rewrites.horovod.options import Options

from renamed.law import Answer, broken_by_names, broken_by_order, broken_by_split, program_of
from renamed.names import Renamer
from renamed.order import reordered
from renamed.split import NAME, split
from spmd.running import together

HERE = Path(__file__).parent
_SECTION = re.compile(r"^## (?P<name>.+)\n(?P<body>(?:.*\n)*?)(?=^## |\Z)", re.MULTILINE)
_BLOCK = re.compile(
    r"^```(?P<kind>py rewritten|py|remarks)(?P<options>(?: \w+=\S+)*)\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL
)
FILES = sorted(HERE.rglob("*.md"))


class Case(NamedTuple):
    """A case of a file: its name, program, options, and what the program becomes."""

    name: str
    text: str
    options: Options
    answer: Answer


def cases(file: Path) -> Iterator[Case]:
    """The cases of a file."""
    for section in _SECTION.finditer(file.read_text(encoding="utf-8")):
        blocks = {found["kind"]: found for found in _BLOCK.finditer(section["body"])}
        given = dict(part.split("=", 1) for part in blocks["py"]["options"].split())
        warmup = {"warmup": int(given.pop("warmup"))} if "warmup" in given else {}
        remarks = blocks["remarks"]["text"].splitlines() if "remarks" in blocks else []
        told = sorted((line.split()[1], root_of(file), int(line.split(":")[0])) for line in remarks)
        files = {root_of(file): blocks["py rewritten"]["text"]} if "py rewritten" in blocks else {}
        options = Options(**given, **warmup)  # type: ignore[arg-type]
        yield Case(section["name"], blocks["py"]["text"], options, Answer(files, tuple(told)))


def root_of(file: Path) -> str:
    """Where the programs of a file of cases stand."""
    return f"/nowhere/{file.stem}.py"


@pytest.mark.parametrize("file", FILES, ids=[str(each.relative_to(HERE)) for each in FILES])
def test_names_and_aliases_decide_nothing(file: Path) -> None:
    """Half of the cases get names that mean nothing, half such as suggest something else."""
    broken = []
    for number, case in enumerate(cases(file)):
        root = root_of(file)
        misleading = number if number % 2 else None
        found = broken_by_names(
            {root: case.text}, root, "/nowhere", case.options, imports=True, misleading=misleading, before=case.answer
        )
        if found is not None:
            broken.append((case.name, found))
    assert not broken


@pytest.mark.parametrize("file", FILES, ids=[str(each.relative_to(HERE)) for each in FILES])
def test_the_order_of_independent_statements_decides_nothing(file: Path) -> None:
    broken = []
    for name, text, options, _ in cases(file):
        root = root_of(file)
        found = broken_by_order({root: text}, root, "/nowhere", options) if reordered(text) != text else None
        if found is not None:
            broken.append((name, found))
    assert not broken


def test_nearly_all_names_are_changed() -> None:
    """A renamer that leaves names alone would prove nothing."""
    changed = every = 0
    for file in FILES[::5]:
        for _, text, _, _ in cases(file):
            root = root_of(file)
            some, of_all = Renamer(program_of({root: text}, root, "/nowhere"), [root], imports=True).share
            changed, every = changed + some, every + of_all
    assert changed > 0.95 * every


SCRIPT = """
import argparse
import json as tool
import math
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--epochs", type=int, default=2)
args = parser.parse_args([])
best = 1e9
patience = 3
wait = 0


class Net(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.first = nn.Linear(4, width)
        self.rest = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        for layer in self.rest:
            x = self._one(layer, x)
        return self.last(x)

    def _one(self, layer, x):
        return torch.tanh(layer(x))


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def mean(self):
        return self.total / max(self.count, 1)


def evaluate(model, loader, *, scale=1.0):
    losses = Mean()
    with torch.no_grad():
        for x, y in loader:
            losses.add(scale * nn.functional.mse_loss(model(x), y).item(), n=len(x))
    return losses.mean


torch.manual_seed(1)
x = torch.randn(32, 4)
data = TensorDataset(x, x.sum(1, keepdim=True))
loader, val_loader = DataLoader(data, batch_size=8), DataLoader(data, batch_size=16)
model = Net(width=8)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for epoch in range(args.epochs):
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    score = evaluate(model, val_loader, scale=2.0)
    wait = 0 if score < best else wait + 1
    best = min(best, score)
    print(f"{epoch} {score:.6f} {best!r:>20} {model.last.weight.shape[0]} {wait}")
    if wait > patience:
        break
print(tool.dumps([round(each, 5) for each in (best, math.pi)]), os.path.basename("a/b"))
"""


def ran(folder: Path, script: str) -> str:
    """What a script prints."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    (printed,) = together(["script.py"], folder, alone=True)
    return printed


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    return ran(tmp_path_factory.mktemp("original"), SCRIPT)


@pytest.mark.parametrize("misleading", [None, 7])
def test_a_renamed_program_runs_as_before(printed: str, misleading: int | None, tmp_path: Path) -> None:
    root = "/nowhere/script.py"
    program = program_of({root: SCRIPT}, root, "/nowhere")
    renamed = Renamer(program, [root], imports=True, misleading=misleading).renamed()[root]
    for name in ("Net", "evaluate", "patience", "val_loader", "losses", "_one", "scale", "tool"):
        assert not re.search(rf"\b{name}\b", re.sub(r"import \w+|[\"'].*?[\"']", "", renamed)), name
    assert "args" not in renamed.replace("argparse", "").replace("parse_args", "")
    assert ".lr" in renamed
    assert "lr=" in renamed
    assert ran(tmp_path, renamed) == printed


def test_a_reordered_program_runs_as_before(printed: str, tmp_path: Path) -> None:
    assert reordered(SCRIPT) != SCRIPT
    assert ran(tmp_path, reordered(SCRIPT)) == printed


def test_a_program_in_two_modules_runs_as_before(printed: str, tmp_path: Path) -> None:
    made = split(SCRIPT)
    assert made is not None
    script, module = made
    assert "class Net" in module
    assert "class Net" not in script
    (tmp_path / f"{NAME}.py").write_text(module, encoding="utf-8")
    assert ran(tmp_path, script) == printed


def test_what_is_reached_by_text_keeps_its_name() -> None:
    text = """
class Kept:
    def __init__(self):
        self.reached, self.other = 1, 2


def name_of(kept, *, unknown=0):
    return getattr(kept, "reached") + kept.other


print(name_of(Kept(), **{"unknown": 3}))
"""
    root = "/nowhere/script.py"
    renamed = Renamer(program_of({root: text}, root, "/nowhere"), [root]).renamed()[root]
    assert "reached" in {node.attr for node in ast.walk(ast.parse(renamed)) if isinstance(node, ast.Attribute)}
    assert "other" not in renamed
    assert "*, unknown=0" in renamed
    assert "Kept" not in renamed


def test_modules_decide_nothing() -> None:
    root = "/nowhere/script.py"
    for backend in ("horovod", "ddp", "accelerate"):
        assert broken_by_split({root: SCRIPT}, root, "/nowhere", Options(backend=backend)) is None
