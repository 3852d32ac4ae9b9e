"""Code that is nested too deeply, or takes too much work, to be followed.

What it may change is unknown afterwards, and everything else is kept. Of nesting the resource is Python's own frames,
so that is what is measured. Of the room there is, a part stays free for expressions, whose nesting the parser bounds.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import unknown_call
from distml.interp.generators import hand_out
from distml.interp.machine import Limits
from distml.interp.names import assign_name, lookup_name
from distml.interp.patterns import assign_target
from distml.values import Class, DictRecord, Function, Imported, Lib, ListRecord, Module, Ref, SetRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine
    from distml.values import Value

ROOM = 12_000
"""Python frames the interpreter may use, as long as it is not compiled."""
DEEPEST = 1_000
"""Expressions and branches inside each other, in all calls; what is nested further is given up."""
MAX_NESTED = 5_000
"""How deeply they may be nested where nothing is given up; the statement ends there."""
_NOTHING = Limits(loop_steps=0, entries=0)
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
REASON = "nested too deeply to be followed"


def too_deep(vm: Machine) -> bool:
    """Whether so much is nested here that nothing may be followed further."""
    return vm.levels > DEEPEST


def give_up(vm: Machine, nodes: Sequence[ast.AST], reason: str | None = REASON) -> Value:
    """Follow none of these; the value that an expression among them has. Without a `reason` it was told already."""
    if reason is not None:
        vm.lose(reason, nodes[0])
    used: dict[str, ast.AST] = {}
    for part in _parts(nodes):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            used[part.id] = part
        _leave(vm, part)
        _bind(vm, part)
    value = unknown_call(vm, Arguments([lookup_name(vm, name, part) for name, part in used.items()]), nodes[0])
    vm.raised()
    return value


def give_up_rest(vm: Machine, body: Sequence[ast.stmt]) -> None:
    """Follow no more of a module's statements than were begun, and no function that the rest may call."""
    begun = [index for index, statement in enumerate(body) if id(statement) in vm.visited]
    if not body:
        return
    limits, step_limit = vm.limits, vm.step_limit
    vm.limits, vm.step_limit = _NOTHING, sys.maxsize
    try:
        give_up(vm, body[begun[-1] if begun else 0 :], None)
    finally:
        vm.limits, vm.step_limit = limits, step_limit


def give_up_call(vm: Machine, function: Function, arguments: Arguments, node: ast.AST) -> Value:
    """Follow no more of a call: nothing is known of what it changes and gives."""
    forget_changed(vm, function)
    return unknown_call(vm, arguments, node)


def forget_changed(vm: Machine, function: Function) -> None:
    """Forget what the functions around one change, since it may call any of them. In an installed package it calls those that it
    names, directly or through others."""
    for frame, name, value in _changed(vm, function):
        if not isinstance(value, Function | Class | Module | Lib | Imported):
            vm.assign(frame.ident, name, vm.opaque(name))


def leave_open(vm: Machine, function: Function) -> None:
    """What a decorator fills may hold more than was registered."""
    for _, _, value in _changed(vm, function):
        record = vm.record(value) if isinstance(value, Ref) else None
        if isinstance(value, Ref) and isinstance(record, DictRecord):
            vm.replace(value, replace(record, exact=False))
        elif isinstance(value, Ref) and isinstance(record, ListRecord | SetRecord):
            vm.replace(value, type(record)(None))


def _changed(vm: Machine, function: Function) -> Iterator[tuple[Frame, str, Value]]:
    """The variables that the functions around one change, with their values."""
    frame: Frame | None = vm.frame_of(function.frame)
    while frame is not None:
        mutated = frame.module.facts.mutated
        for name in sorted(mutated & named_from(function.node, frame) if frame.module.source.installed else mutated):
            value = vm.variable(frame.ident, name)
            if value is not None:
                yield frame, name, value
        frame = frame.parent


def named_from(node: ast.AST, frame: Frame) -> set[str]:
    """The names in a function, and in the functions of its module that it names."""
    found: set[str] = set()
    waiting = [node]
    defined = {each.name: each for each in frame.module.source.tree.body if isinstance(each, _DEFINING)}
    while waiting:
        names = {part.id for part in ast.walk(waiting.pop()) if isinstance(part, ast.Name)} - found
        found |= names
        waiting += [defined[name] for name in names if name in defined]
    return found


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
        hand_out(vm, vm.opaque("yield"), counted=False)


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
