"""Where the optimizers of updates are made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.plan import Plan
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import method_name, receiver_of
from distml.training.values import Class, Foreign

_MADE = re.compile(
    r"(keras\.optimizers|keras\.mixed_precision|tensorflow\.train|tensorflow_addons\.optimizers|tensorflow\.contrib\.\w+)"
    r"\.(?!schedules)(\w+\.)*(\w+)\(\)"
)
_AROUND = frozenset({"LossScaleOptimizer", "MovingAverage", "SWA", "Lookahead", "experimental_LossScaleOptimizer"})


def makers(plan: Plan, optimizer: ast.expr, around: frozenset[ast.AST] = frozenset()) -> list[ast.Call]:
    """The calls that make what an expression can stand for; an optimizer around another counts by the inner one.

    `around` are those whose inner ones are looked for: a variable can hold both in turn.
    """
    found: dict[ast.Call, None] = {}
    for value in plan.program.of(optimizer):
        match = _MADE.fullmatch(value.name) if isinstance(value, Foreign) else None
        if match is None or not isinstance(value, Foreign) or not isinstance(value.node, ast.Call):
            continue
        if value.node in around:
            continue
        inner = argument(value.node, 0, "inner_optimizer", "optimizer")
        if match[3] in _AROUND and inner is not None:
            found |= dict.fromkeys(makers(plan, inner, around | {value.node}))
        else:
            found[value.node] = None
    return list(found) or _by_keyword(plan, optimizer)


def _by_keyword(plan: Plan, optimizer: ast.expr) -> list[ast.Call]:
    """What an object was given under the name of the attribute, for classes that keep all they are given, as models do."""
    if not isinstance(optimizer, ast.Attribute):
        return []
    owners = {*plan.program.classes(optimizer.value)}
    given = [
        keyword.value
        for call in plan.program.calls
        if owners & plan.program.of(call.func)
        for keyword in call.keywords
        if keyword.arg == optimizer.attr
    ]
    compiled = (each for each in _compiled(plan.program, owners) if optimizer.attr == "optimizer")
    return [made for each in (*given, *compiled) for made in makers(plan, each)]


def _compiled(program: Program, owners: set[Class]) -> Iterator[ast.expr]:
    """The optimizers that models of these classes are compiled with."""
    for call in program.calls:
        if method_name(call) == "compile":
            held = {*program.classes(receiver_of(call))}
            given = argument(call, 0, "optimizer")
            if held & owners and given is not None:
                yield given
