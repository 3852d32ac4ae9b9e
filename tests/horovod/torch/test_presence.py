"""A variable that is said to be set at a statement is set there in every run, whatever branches are taken."""

from __future__ import annotations

import ast
from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest
from horovod.torch.programs import rewritten, said_by_two

from distml.rewrites.horovod.aspects.presence import is_set_before, may_be_none
from distml.source.project import Project
from distml.training.program import Program

BLOCKS = (
    "if flag{n}:\n{a}\nelse:\n{b}",
    "if flag{n}:\n{a}",
    "if flag{n}:\n{a}\nelif flag{m}:\n{b}",
    "for i in range(flag{n}):\n{a}",
    "while flag{n}:\n{a}\n    break",
    "try:\n{a}\n    fail(flag{n})\nexcept ValueError:\n{b}",
    "try:\n    fail(flag{n})\n{a}\nfinally:\n{b}",
    "with context():\n{a}",
    "if flag{n}:\n    return",
    "if flag{n}:\n    raise ValueError\nelse:\n{b}",
)
SIMPLE = ("model = 1", "model = 1", "model = None", "other = 2", "pass")
HEAD = """
from contextlib import nullcontext as context
def fail(flag):
    if flag:
        raise ValueError
"""


def _body(random: Random, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(random.randrange(1, 3)):
        if depth > 2 or random.random() < 0.4:
            lines.append(random.choice(SIMPLE))
            continue
        parts = {name: "\n".join(f"    {line}" for line in _body(random, depth + 1)) for name in "ab"}
        block = random.choice(BLOCKS)
        lines += block.format(n=random.randrange(3), m=random.randrange(3), **parts).splitlines()
    return lines


def _values(program: str) -> set[object]:
    found: set[object] = set()
    for flags in product((False, True), repeat=3):
        names: dict[str, object] = {"seen": found.add}
        exec(HEAD + program, names)
        try:
            names["run"](*flags)  # type: ignore[operator]
        except UnboundLocalError:
            found.add("unset")
        except ValueError:
            pass
    return found


@pytest.mark.parametrize("around", ["{}", "if flag0:\n    {}", "for j in range(2):\n    {}"])
def test_what_is_set_before_a_statement_is_set_there(around: str, folder: Path) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(150):
        body = [*_body(Random(seed)), *around.format("seen(model)").splitlines()]
        program = "def run(flag0, flag1, flag2):\n" + "\n".join(f"    {line}" for line in body) + "\n"
        if "model = 1" not in program:
            continue
        (folder / "main.py").write_text(program)
        project = Project(str(folder))
        known = Program([project.open("main.py")], project)
        statement = next(
            each
            for unit in known.units.values()
            for each in ast.walk(unit.tree)
            if isinstance(each, ast.Expr) and ast.unparse(each) == "seen(model)"
        )
        said, values = is_set_before(known, "model", statement), _values(program)
        kinds[f"{said} {values <= {1}}"] += 1
        assert not said or "unset" not in values, program
        assert not said or "model = None" in program or values <= {1}, program
        assert said or None not in values or may_be_none(known, "model", statement), program
    assert kinds["True True"] > 20 and kinds["False False"] > 20, kinds


MAYBE = """
import torch
from torch import nn


def make(fine):
    model = nn.Linear(4, 1)
    second = None
    parameters = list(model.parameters())
    if fine:
        second = nn.Linear(1, 1)
        parameters += list(second.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.01)
    return {{"model": model, "second": second}}, optimizer


nets, optimizer = make({fine})
for x, y in torch.utils.data.DataLoader([(torch.ones(4), torch.ones(1))] * 8, batch_size=2):
    optimizer.zero_grad()
    out = nets["model"](x)
    out = nets["second"](out) if nets["second"] is not None else out
    nn.functional.mse_loss(out, y).backward()
    optimizer.step()
print("weights", [each.sum().item() for net in nets.values() if net is not None for each in net.parameters()])
"""


@pytest.mark.requires("torch")
def test_a_model_that_may_not_be_there_is_sent_where_it_is(tmp_path: Path) -> None:
    """Both processes train, with it and without it."""
    texts = {fine: rewritten(MAYBE.format(fine=fine), "ddp") for fine in ("True", "False")}
    told = said_by_two(texts, tmp_path)
    assert all("if second is not None:" in text for text in texts.values())
    assert all(told[fine][0].startswith("weights") for fine in told)
