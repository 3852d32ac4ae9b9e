"""Calls from the checked program into installed packages.

Their code is followed with steps of its own, so that a program is judged as far as without them, and a mistake that shows
there is told at the program's call.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from distml.interp.budget import briefly
from distml.interp.exports import awake
from distml.ops import Note
from distml.shapes import Origin
from distml.source.project import is_model
from distml.values import Const

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine
    from distml.source.file import SourceFile
    from distml.values import Function, Value

CALL_STEPS = 6_000
"""Statements and rules that one call into an installed package may take."""
ALL_STEPS = 12_000
"""How many all of these calls of a file may take together."""


LONGEST = 400
"""Characters of the strings of a call in which names are looked for."""
_WORD = re.compile(r"[A-Za-z_]\w+")


def enters_installed(vm: Machine, function: Function) -> bool:
    """Whether a call leads from the program into an installed package."""
    return vm.frame_of(function.frame).module.source.installed and not vm.frame.module.source.installed


def follow_installed(
    vm: Machine, function: Function, arguments: Mapping[str, Value], run: Callable[[], Value], node: ast.AST
) -> Value | None:
    """What a call into an installed package gives, with steps of its own; None, and nothing changed, if they do not suffice."""
    source = vm.frame_of(function.frame).module.source
    if not awake(vm, source, _words(arguments)):
        vm.packages.give_up(source)
        return None
    steps, limit = vm.steps, vm.step_limit
    allowed = min(CALL_STEPS, ALL_STEPS - vm.packages.calls)
    if allowed > 0 and not vm.packages.late:
        vm.step_limit = sys.maxsize
        try:
            made = briefly(vm, allowed, run)
        finally:
            modules = vm.step_limit - sys.maxsize
            vm.packages.calls += vm.steps - steps - modules
            vm.step_limit = limit
            vm.steps = steps
        if made is not None:
            return made
    vm.packages.give_up(source)
    vm.lose(f"following {function.name} into its package takes too much work", node)
    return None


def _words(arguments: Mapping[str, Value]) -> list[str]:
    """The words in the strings that a call hands over."""
    texts = [each.value for each in arguments.values() if isinstance(each, Const) and isinstance(each.value, str)]
    return list(dict.fromkeys(_WORD.findall(" ".join(texts)[:LONGEST])))


def is_foreign(source: SourceFile) -> bool:
    """Whether a file is not the program's: of an installed package, or a model of a library."""
    return source.installed or is_model(source)


def seen_from(vm: Machine, node: ast.AST, frame: Frame) -> tuple[ast.AST, Frame] | None:
    """Where the program is when something happens in a frame: there, or at its call into a library; None where it is in no
    call of the program, but in a module that is being imported."""
    if not is_foreign(frame.module.source):
        return node, frame
    at = vm.stack.index(frame) if frame in vm.stack else len(vm.stack) - 1
    for index in range(at, 0, -1):
        outer, caller = vm.stack[index - 1], vm.stack[index].caller
        if not is_foreign(outer.module.source) and caller is not None:
            return caller, outer
    return None


def origin_of_call(vm: Machine, node: ast.AST) -> Origin:
    """The place of the program's call into the library that a node belongs to."""
    seen = seen_from(vm, node, vm.frame)
    if seen is None:
        return Origin("", vm.frame.module.source.module, 1, 1)
    inner, vm.frame = vm.frame, seen[1]
    try:
        return vm.origin(seen[0])
    finally:
        vm.frame = inner


def told_from(vm: Machine, node: ast.AST, frame: Frame) -> Note:
    """The line of the package at which a call of the program fails."""
    inner, vm.frame = vm.frame, frame
    try:
        return Note(f"it fails here, in {frame.name} of {frame.module.source.module}", vm.origin(node))
    finally:
        vm.frame = inner
