"""The loops that lead to an update, in its function and in those that call it, and what each goes through."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from distml.rewrites.horovod.aspects.origins import origins
from distml.rewrites.horovod.aspects.pipelines import paths
from distml.training.around import turns_around
from distml.training.callsites import called, is_range
from distml.training.counting import BARS
from distml.training.program import Program
from distml.training.syntax import method_name
from distml.training.values import Box, Constant, Foreign, Instance

_AROUND = BARS | frozenset("enumerate iter list tuple reversed".split())
_DEEPEST = 6
_MOST = 12


@dataclass(frozen=True, eq=False)
class Turn:
    """A loop: its statement or the part of a comprehension, and what it goes through."""

    node: ast.AST
    over: ast.expr | None
    program: Program

    @cached_property
    def kind(self) -> str:
        """A `dataset` of `tf.data`, a `count`, a `while`, `things` that are no data, or something `other`."""
        if self.over is None:
            return "while"
        inner = self.inner
        if self.count is not None:
            return "count"
        if paths(inner, self.program):
            return "dataset"
        return "things" if self._things() else "other"

    @cached_property
    def inner(self) -> ast.expr:
        """What is gone through, without progress bars and numbers around it."""
        assert self.over is not None
        return within(self.over, self.program)

    @cached_property
    def count(self) -> ast.Call | None:
        """The `range` that is gone through, here or where the variable has it from."""
        inner = self.inner
        if is_range(inner, self.program):
            return inner
        if isinstance(inner, ast.Name):
            for origin in origins(inner, self.program):
                value = within(origin.value, self.program)
                if origin.whole and is_range(value, self.program):
                    return value
        return None

    @property
    def target(self) -> str:
        """The variable that counts, if it is one name."""
        target = getattr(self.node, "target", None)
        if isinstance(target, ast.Tuple) and isinstance(self.over, ast.Call):
            target = target.elts[0] if called(self.over, self.program) == "enumerate" else target
        return target.id if isinstance(target, ast.Name) else ""

    def _things(self) -> bool:
        """Whether the items are constants, variables, models or optimizers."""
        inner = self.inner
        if method_name(inner) in ("items", "keys"):
            return True
        items = self.program.held(self.program.of(inner))
        plain = {item for item in items if not isinstance(item, Box)} | self.program.held(items)
        return any(self._thing(each) for each in plain)

    def _thing(self, item: object) -> bool:
        if isinstance(item, Constant | Instance):
            return True
        made = ("keras.", "tensorflow.Variable", "tensorflow.GradientTape", "tensorflow.train.")
        return isinstance(item, Foreign) and item.name.startswith(made) and "datasets" not in item.name


def within(node: ast.expr, program: Program) -> ast.expr:
    """What calls such as `enumerate(x)` and `tqdm(x)` go through."""
    while isinstance(node, ast.Call) and called(node, program) in _AROUND and node.args:
        node = node.args[0]
    return node


@dataclass(frozen=True, eq=False)
class Way:
    """One way to reach an update: the loops around it, innermost first, and the functions it passes through."""

    turns: tuple[Turn, ...]
    functions: tuple[ast.AST, ...]


def ways(node: ast.AST, program: Program) -> list[Way]:
    """The ways to reach an update; one without loops where nobody calls its function."""
    found: list[Way] = []
    for way in _ways(node, program, (), (), _DEEPEST):
        found.append(way)
        if len(found) == _MOST:
            break
    return found


def _ways(
    node: ast.AST, program: Program, turns: tuple[Turn, ...], functions: tuple[ast.AST, ...], depth: int
) -> Iterator[Way]:
    here = (*turns, *own_turns(node, program))
    function = program.function(node)
    callers = program.calling(function) if function not in functions else []
    passed = (*functions, function) if function is not None else functions
    if not callers or not depth:
        yield Way(here, passed)
    for call in callers if depth else ():
        yield from _ways(call, program, here, passed, depth - 1)


def own_turns(node: ast.AST, program: Program) -> Iterator[Turn]:
    """The loops around a node in its own function, innermost first."""
    return (Turn(each, getattr(each, "iter", None), program) for each in turns_around(node, program))
