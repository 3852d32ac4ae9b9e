"""The nodes of a piece of syntax are those of Python's own walk, without contexts, and each list is made once."""

from __future__ import annotations

import ast
import gc
import weakref
from pathlib import Path

import pytest

from distml.source import nodes
from distml.source.nodes import SCOPES, own_nodes_of, statements, walk

FILES = [nodes.__file__, pytest.__file__, ast.__file__]


@pytest.mark.parametrize("path", FILES, ids=lambda path: Path(path).name)
def test_walk_gives_what_python_gives(path: str) -> None:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    for each in (node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)):
        assert [*walk(each)] == [node for node in ast.walk(each) if not isinstance(node, ast.expr_context)]


BLOCKS = """
try:
    with a as b: c = lambda: 1
except E: d()
else:
    match x:
        case 1: e
        case _ if f: g
finally:
    for h in i: j = k if l else m
    else: n
async def o():
    class p: q: int
    while r: s
    else: t
    async with u: v
try: w
except* X: y
"""


@pytest.mark.parametrize("text", [BLOCKS, *(Path(path).read_text(encoding="utf-8") for path in FILES)])
def test_statements_are_those_of_the_walk(text: str) -> None:
    for each in ast.walk(ast.parse(text)):
        assert [*statements(each)] == [node for node in walk(each) if isinstance(node, ast.stmt) and node is not each]


def below(node: ast.AST) -> list[ast.AST]:
    """By the definition: each child that is no scope, in front of what is below it."""
    children = [each for each in ast.iter_child_nodes(node) if not isinstance(each, (*SCOPES, ast.expr_context))]
    return [found for child in children for found in (child, *below(child))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: Path(path).name)
def test_own_nodes_leave_functions_and_classes_out(path: str) -> None:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    for each in ast.walk(tree):
        if hasattr(each, "body"):
            assert [*own_nodes_of(each)] == below(each)


def test_what_holds_statements_is_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ast.parse("def f():\n    return 1 + 2\n")
    first, own = walk(tree), own_nodes_of(tree)
    assert first == [*ast.walk(tree)] and "1" in ast.dump(tree)
    monkeypatch.setattr(nodes, "children", None)
    assert walk(tree) == first and own_nodes_of(tree) is own


def test_a_tree_that_nobody_needs_goes_at_once() -> None:
    tree = ast.parse("def f():\n    return 1 + 2\n")
    for each in ast.walk(tree):
        walk(each)
        own_nodes_of(each)
    kept = weakref.ref(tree.body[0])
    gc.disable()
    try:
        del tree, each
        assert kept() is None
    finally:
        gc.enable()
