"""Code that is nested too deeply to be followed: what it may change is unknown afterwards, and everything else is kept.

The resource is the nesting of Python's own frames, so that is what is measured. Of the room there is, a part stays free for
expressions, whose nesting the parser bounds.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from distml.interp.calls import Arguments, unknown_call
from distml.interp.names import assign_name, lookup_name
from distml.interp.patterns import assign_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distml.interp.machine import Machine
    from distml.values import Value

ROOM = 12_000
"""Python frames the interpreter may use."""
DEEPEST = 7_000
"""Frames at which what is nested further is given up."""
REASON = "nested too deeply to be followed"


def too_deep() -> bool:
    """Whether so many frames are in use that nothing may be followed further."""
    try:
        sys._getframe(DEEPEST)
    except ValueError:
        return False
    return True


def give_up(vm: Machine, nodes: Sequence[ast.AST]) -> Value:
    """Follow none of these; the value that an expression among them has."""
    vm.lose(REASON, nodes[0])
    used: dict[str, ast.AST] = {}
    for part in _parts(nodes):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            used[part.id] = part
        _leave(vm, part)
        _bind(vm, part)
    value = unknown_call(vm, Arguments([lookup_name(vm, name, part) for name, part in used.items()]), nodes[0])
    vm.raised()
    return value


def _parts(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and what they consist of, less what belongs to a scope of its own."""
    waiting = list(nodes)
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(part))


def _leave(vm: Machine, part: ast.AST) -> None:
    """The ways out of a block, any of which may be taken."""
    if isinstance(part, ast.Return):
        vm.frame.returns.append((vm.opaque("return"), vm.state.fork()))
        vm.frame.doubtful = True
    elif isinstance(part, ast.Break) and vm.loops:
        vm.loops[-1].breaks.append(vm.state.fork())
    elif isinstance(part, ast.Continue) and vm.loops:
        vm.loops[-1].continues.append(vm.state.fork())
    elif isinstance(part, ast.Yield | ast.YieldFrom):
        vm.frame.yields.append(vm.opaque("yield"))
        vm.frame.endless = True


def _bind(vm: Machine, part: ast.AST) -> None:
    """What a node gives a name or an attribute is unknown."""
    if isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
        plain = isinstance(part, ast.Name) or isinstance(part.value, ast.Name)
        if plain and not isinstance(part.ctx, ast.Load):
            assign_target(vm, part, vm.opaque(vm.snippet(part)))
        return
    names = [getattr(part, field, None) for field in ("name", "rest", "asname")]
    if isinstance(part, ast.alias) and part.asname is None:
        names[0] = part.name.partition(".")[0]
    for name in names:
        if isinstance(name, str) and name != "*":
            assign_name(vm, name, vm.opaque(name), skip_comprehensions=True)
