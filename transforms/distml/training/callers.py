"""The calls that can run each function of a program, constructors and objects that are called among them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable as Function
from collections.abc import Iterable, Iterator
from functools import partial

from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import closure, nodes_in
from distml.training.values import Callable, Class, Instance, Value

_CALLED = ("__call__", "forward", "call")
"""What runs when an object is called: a library calls the last two."""


@remembered
def callers(program: Program) -> dict[ast.AST, list[ast.Call]]:
    """The calls that can run a function."""
    found: dict[ast.AST, list[ast.Call]] = defaultdict(list)
    for call in program.calls:
        for function in run_by(call, program):
            found[function].append(call)
    return dict(found)


def leading_to(function: ast.AST | None, program: Program) -> list[ast.Call]:
    """The calls that can run one function; none for the code of a module."""
    return callers(program).get(function, []) if function is not None else []


def upwards(nodes: Iterable[ast.AST], program: Program, direct: bool = False) -> Iterator[ast.AST]:
    """Some nodes, and the calls through which they come to run: those of the functions around them, and so on.

    Unless `direct`, what makes or calls an object counts as a call of the methods that it runs.
    """
    calls = program.calling if direct else partial(leading_to, program=program)
    return closure(nodes, lambda node: calls(program.function(node)))


def run_by(call: ast.AST | None, program: Program) -> list[ast.AST]:
    """The functions of the program that a call can run; none for what is no call."""
    values = program.of(call.func) if isinstance(call, ast.Call) else ()
    return [function for value in values for function in _run_by(value, program)]


def run_from(
    nodes: Iterable[ast.AST], program: Program, counts: Function[[ast.Call], bool] = lambda _: True
) -> Iterator[ast.AST]:
    """The functions of the program that run where some nodes do, by calls that count, and those that run in them, each once."""

    def called(node: ast.AST) -> Iterator[ast.AST]:
        return (function for call in nodes_in(node, ast.Call) if counts(call) for function in run_by(call, program))

    return closure((function for node in nodes for function in called(node)), called)


def _run_by(value: Value, program: Program) -> Iterator[ast.AST]:
    if isinstance(value, Callable):
        yield value.node
    elif isinstance(value, Class):
        yield from _methods(value, ("__init__",), program)
    elif isinstance(value, Instance):
        yield from _methods(value.type, _CALLED, program)


def _methods(owner: Class, names: tuple[str, ...], program: Program) -> Iterator[ast.AST]:
    for base in program.lineage(owner):
        for node in base.node.body if isinstance(base, Class) else ():
            if isinstance(node, ast.FunctionDef) and node.name in names:
                yield node


class Reach:
    """The code from which one of some nodes is reached, directly or by calls of functions of the program."""

    def __init__(self, program: Program, seeds: Iterable[ast.AST]) -> None:
        runs = callers(program)
        self.functions: set[ast.AST] = set()
        self._around: set[ast.AST] = set()
        waiting = list(seeds)
        while waiting:
            node: ast.AST | None = waiting.pop()
            while node is not None and node not in self._around:
                self._around.add(node)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                    self.functions.add(node)
                    waiting += runs.get(node, ())
                    break
                node = program.parent(node)

    def holds(self, node: ast.AST) -> bool:
        """Whether running `node` can reach one of the nodes."""
        return node in self._around and node not in self.functions

    def holds_any(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether running one of several can."""
        return any(self.holds(each) for each in nodes)
