"""A drawing leads from an input to the result where the rows of a tensor go through comprehensions, generators and iterators.

Each form is run for real: its result depends on the input, as the gradient says.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.gradual.draw import find_drawings
from distml.gradual.questions import Question

FORMS = """
sum(each for each in x)
sum([each for each in x])
torch.stack([each * 2 for each in x])
torch.stack([each for each in x])
torch.stack(list(x))
torch.stack(tuple(x))
torch.stack([*x])
torch.stack(list(each + 1 for each in x))
torch.stack(tuple(each + 1 for each in x))
torch.stack(list(map(torch.relu, x)))
torch.stack([a + b for a, b in zip(x, x)])
torch.stack([a * i for i, a in enumerate(x)])
torch.stack(list(reversed([each for each in x])))
torch.stack([b for a in x for b in a])
torch.stack([sum(b for b in a) for a in x])
torch.stack(list({i: a for i, a in enumerate(x)}.values()))
torch.stack([a for a in x if a.shape[0] == 5])
next(iter(x))
next(each for each in x)
max(each.sum() for each in x)
torch.cat([each.unsqueeze(0) for each in x.unbind()])
torch.stack(sorted((each for each in x), key=lambda row: float(row.sum().detach())))
functools.reduce(torch.add, x)
functools.reduce(lambda a, b: a + b, (each * 2 for each in x))
torch.stack([each for pair in zip(x, x * 2) for each in pair])
torch.stack(list(filter(lambda row: row.shape[0] == 5, x)))
torch.stack(list(itertools.chain(x, x)))
torch.stack([{'a': each}['a'] for each in x])
torch.stack([(each, 1)[0] for each in x])
sum(map(lambda row: row.relu(), x))
sum(x)
sum(x.unbind(0))
torch.stack([x[i] for i in range(4)])
math.fsum([0.0]) + sum(w * r for w, r in zip([1.0, 2.0, 3.0, 4.0], x))
""".strip().splitlines()
PROGRAM = """
import functools
import itertools
import math

import torch


def made(x):
    return {}
"""


@pytest.mark.requires("torch")
@pytest.mark.parametrize("form", FORMS)
def test_the_result_really_depends_on_the_rows(form: str) -> None:
    import torch

    space: dict[str, object] = {}
    exec(compile(PROGRAM.format(form), "form", "exec"), space)
    x = torch.ones(4, 5, requires_grad=True)
    space["made"](x).sum().backward()  # type: ignore[operator]
    assert x.grad is not None


@pytest.mark.parametrize("shape", ["4, 5", "n, 5"])
@pytest.mark.parametrize("form", FORMS)
def test_the_drawing_leads_from_the_input_to_the_result(form: str, shape: str, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(PROGRAM.format(form))
    (drawing,) = find_drawings(Question(f"{path}::made"), [f"x: float[{shape}]"])
    reached = {node.id for node in drawing.nodes if node.kind == "input"}
    while more := {edge.target for edge in drawing.edges if edge.source in reached} - reached:
        reached |= more
    ends = {node.id for node in drawing.nodes if node.kind == "output"}
    assert ends and ends <= reached
