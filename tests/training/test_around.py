"""How loops are left."""

from __future__ import annotations

import ast

import pytest

from distml.source.project import Project
from distml.training.around import leaving
from distml.training.program import Program


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("if a: break", {"a"}),
        ("if a: return", {"a"}),
        ("if a: continue", set()),
        ("with x:\n            if a: break", {"a"}),
        ("for y in x:\n            if a: break", set()),
        ("for y in x:\n            if a: return", {"a"}),
        ("for y in x: pass\n        else:\n            if a: break", {"a"}),
        ("if a:\n            if b: break", {"b"}),
        ("def f():\n            if a: return", set()),
    ],
)
def test_a_loop_is_left_by_its_own_breaks_and_by_returns(body: str, left: set[str]) -> None:
    text = f"def run(x, a, b):\n    while True:\n        {body}\n"
    program = Program(
        [Project("/nowhere", overlay={"/nowhere/loops.py": text.encode()}).open("/nowhere/loops.py")], Project()
    )
    (loop,) = (each for each in ast.walk(program.roots[0].tree) if isinstance(each, ast.While))
    assert {ast.unparse(each.test) for each in leaving(loop, program)} == left
