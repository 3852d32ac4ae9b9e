"""Which code of a function runs where it is known what some of its parameters are: `random=False` switches draws off."""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterable, Iterator, Mapping

from distml.source.bindings import arguments
from distml.source.nodes import walk
from distml.training.callers import run_by
from distml.training.callsites import argument_for, default_of
from distml.training.program import Program

Known = Mapping[str, object]
"""What parameters are, by name; those that are not known are not in it."""


def calls_behind(made: Iterable[ast.Call], program: Program) -> Iterator[ast.Call]:
    """The calls that some calls come to in functions of the program, by what each of these is given."""
    waiting: list[tuple[ast.Call, Known]] = [(each, {}) for each in made]
    seen: set[tuple[ast.AST, str]] = set()
    while waiting:
        call, known = waiting.pop()
        for function in run_by(call, program):
            inner = _given(call, function, known, program) if isinstance(function, ast.FunctionDef) else {}
            key = function, repr(sorted(inner.items()))
            if key not in seen and isinstance(function, ast.FunctionDef):
                seen.add(key)
                found = [each for each in _block(function.body, inner) if isinstance(each, ast.Call)]
                yield from found
                waiting += [(each, inner) for each in found]


def _given(call: ast.Call, function: ast.FunctionDef, known: Known, program: Program) -> dict[str, object]:
    """The parameters of which a call says what they are, or nothing, so that they are what they are then."""
    found: dict[str, object] = {}
    stored = {each.id for each in walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    spread = any(isinstance(each, ast.Starred) for each in call.args) or any(not each.arg for each in call.keywords)
    for name in (each.arg for each in arguments(function) if each.arg not in stored and not spread):
        value = argument_for(call, function, name, program) or default_of(function, name)
        if isinstance(value, ast.Constant):
            found[name] = value.value
        elif isinstance(value, ast.Name) and value.id in known:
            found[name] = known[value.id]
    return found


def _block(block: list[ast.stmt], known: Known) -> Generator[ast.AST, None, bool]:
    """The nodes of statements in a row that run; gives whether what stands behind them does not."""
    for each in block:
        if (yield from _statement(each, known)):
            return True
    return False


def _statement(node: ast.stmt, known: Known) -> Generator[ast.AST, None, bool]:
    if isinstance(node, ast.If) and (holds := decided(node.test, known)) is not None:
        return (yield from _block(node.body if holds else node.orelse, known))
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield from _statement(child, known)
        else:
            yield from _expression(child, known)
    return isinstance(node, ast.Return | ast.Raise)


def _expression(node: ast.AST, known: Known) -> Iterator[ast.AST]:
    if isinstance(node, ast.IfExp) and (holds := decided(node.test, known)) is not None:
        yield from _expression(node.body if holds else node.orelse, known)
        return
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):  # within a handler
            yield from _statement(child, known)
        else:
            yield from _expression(child, known)
        if isinstance(node, ast.BoolOp) and isinstance(child, ast.expr):
            if decided(child, known) is isinstance(node.op, ast.Or):
                return


def decided(test: ast.expr, known: Known) -> bool | None:
    """How a condition comes out; None where that is not known."""
    match test:
        case ast.Name(id=name) if name in known:
            return bool(known[name])
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            found = decided(inner, known)
            return None if found is None else not found
        case ast.BoolOp(op=op, values=values):
            parts = [decided(each, known) for each in values]
            ends = isinstance(op, ast.Or)
            return ends if ends in parts else None if None in parts else not ends
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=other)]) if name in known:
            if isinstance(op, ast.Eq | ast.Is | ast.NotEq | ast.IsNot):
                return (known[name] == other) is isinstance(op, ast.Eq | ast.Is)
    return None
