"""Work that is not worth its cost: what modules do while they are imported.

A decorator that writes documentation, or a call that reads a folder to list what
a package holds, takes more steps than everything that is asked of the module.
Such a call is given a few steps; when they are used up it is undone, and its
function is not followed again. What it returns is unknown, unless the function
says itself that it hands back what it was given.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.machine import OutOfSteps
from distml.interp.scope import every_argument, scope_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine
    from distml.values import Function, Value

DECORATOR_STEPS = 384
"""Statements and rules that applying one decorator may take."""
IMPORT_CALL_STEPS = 640
"""How many a call may take that an imported module makes while it is run."""
REGISTERING_STEPS = 20_000
"""How many, in a module that fills a registry: it registers many things at once."""
MAX_ATTEMPTS = 3

_HEAVY = "distml_heavy"


def steps_of_import(vm: Machine, usual: int) -> int:
    """How many steps a call may take that the module makes which is being run."""
    return REGISTERING_STEPS if vm.frame.module.facts.registers else usual


def briefly(vm: Machine, steps: int, run: Callable[[], Value]) -> Value | None:
    """What `run` gives within a number of steps; None, and nothing changed, when that is not enough."""
    for _ in range(MAX_ATTEMPTS):
        depth = len(vm.stack)
        found = _attempt(vm, steps, run)
        if found is not None:
            return found
        if not _blame(vm.exhausted[depth:]):
            break
    return None


def _attempt(vm: Machine, steps: int, run: Callable[[], Value]) -> Value | None:
    saved = (vm.frame, vm.node, vm.loops, vm.recording, vm.brief)
    stack, handlers, start = list(vm.stack), list(vm.handlers), vm.state
    outer, mine = vm.step_limit, min(vm.step_limit, vm.steps + steps)
    vm.state, vm.step_limit, vm.brief = start.fork(), mine, True
    try:
        return run()
    except OutOfSteps:
        if vm.steps > outer:
            raise
        vm.frame, vm.node, vm.loops, vm.recording, _ = saved
        vm.stack, vm.handlers, vm.state = stack, handlers, start
        return None
    finally:
        # Modules imported meanwhile have moved the limit: their steps are their own.
        vm.step_limit = outer + (vm.step_limit - mine)
        vm.brief = saved[-1]


def _blame(frames: list[Frame]) -> bool:
    """Note which function is too much work; whether another attempt may get further without it."""
    for frame in frames:
        if frame.function is not None and hands_back(frame.function.node) is not None:
            setattr(frame.function.node, _HEAVY, True)
            return True
    for frame in frames[:1]:
        if frame.function is not None:
            setattr(frame.function.node, _HEAVY, True)
    return False


def too_heavy(vm: Machine, function: Function) -> bool:
    """Whether a function is not followed here because it was too much work before."""
    return vm.brief and getattr(function.node, _HEAVY, False)


def hands_back(node: ast.AST) -> str | None:
    """The first parameter, if a function returns nothing else, never rebinds it and at most describes it."""
    if not isinstance(node, ast.FunctionDef) or scope_of(node).is_generator:
        return None
    first = next(every_argument(node.args), None)
    if first is None or first is node.args.vararg:
        return None
    returned = False
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(part, ast.Name) and part.id == first.arg and not isinstance(part.ctx, ast.Load):
            return None
        if _changes(part, first.arg):
            return None
        if isinstance(part, ast.Return):
            if not isinstance(part.value, ast.Name) or part.value.id != first.arg:
                return None
            returned = True
        waiting.extend(ast.iter_child_nodes(part))
    return first.arg if returned else None


_DESCRIPTIONS = frozenset("__doc__ __name__ __qualname__ __module__ __annotations__ __signature__".split())


def _changes(node: ast.AST, name: str) -> bool:
    """Whether a part of a function gives the object in `name` another attribute."""
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return isinstance(node.value, ast.Name) and node.value.id == name and node.attr not in _DESCRIPTIONS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
        return bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id == name
    return False
