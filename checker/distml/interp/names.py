"""Looking up and assigning names."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from distml.interp.join import join_values
from distml.interp.stars import from_libraries
from distml.ops.python.paths import ROOT, placed
from distml.values import Const, Imported, Lib, Union, Value

if TYPE_CHECKING:
    from distml.interp.frames import Frame
    from distml.interp.machine import Machine

_BUILTINS = frozenset(dir(builtins)) | {"reveal_shape"}


def lookup_name(vm: Machine, name: str, node: ast.AST) -> Value:
    """The value of a name here; an unknown one when it is not bound on this path."""
    frame = module_frame(vm.frame) if name in vm.frame.scope.globals else vm.frame
    found = _looked_up(vm, frame, name, first=True)
    return vm.opaque(name, vm.origin(node)) if found is None else found


def _looked_up(vm: Machine, frame: Frame | None, name: str, first: bool = False) -> Value | None:
    """The value of a name from a scope outwards, None where it is not bound; class bodies count for their own code only."""
    while frame is not None:
        usable = first or not frame.scope.is_class
        if usable and (name in frame.scope.locals or frame.scope.is_module):
            found = _in_frame(vm, frame, name)
            if found is not None and name in frame.sometimes:
                behind = _looked_up(vm, frame.parent, name)
                return found if behind is None else join_values(vm, found, behind)
            if found is not None or not (frame.scope.is_module or frame.scope.is_class):
                return found
        frame, first = frame.parent, False
    return Lib(f"builtins.{name}") if name in _BUILTINS else None


def _in_frame(vm: Machine, frame: Frame, name: str) -> Value | None:
    found = vm.variable(frame.ident, name)
    if isinstance(found, Imported | Union):
        found = vm.language.resolve_import(vm, found)
    if frame.scope.is_module:
        if found is not None and vm.symbolic and name in frame.module.facts.mutated:
            known = vm.get(("global", vm.global_key(frame, name)))
            if known is None:
                known = vm.opaque(name)
                vm.put(("global", vm.global_key(frame, name)), known)
            result: Value = known
            return result
        if found is None:
            found = from_libraries(vm, frame, name)
        if found is None and frame.module.stars:
            return vm.language.from_stars(vm, frame.module.stars, name)
        if found is None and name == "__name__":
            return Const(frame.module.source.module)
        if found is None and name == "__file__":
            path = frame.module.source.path
            return Const(path) if path.startswith("/") else placed(vm, f"{ROOT}/{path}")
    return found


def module_frame(frame: Frame) -> Frame:
    """The frame of the module a frame's code belongs to."""
    return frame.module.frame


def assign_name(vm: Machine, name: str, value: Value | None, skip_comprehensions: bool = False) -> None:
    """Bind a name where Python would; None unbinds it."""
    frame = vm.frame
    while skip_comprehensions and frame.name == "<comprehension>" and frame.parent is not None:
        frame = frame.parent
    if name in frame.scope.globals:
        frame = module_frame(frame)
        if vm.symbolic:
            vm.put(("global", vm.global_key(frame, name)), value)
    elif name in frame.scope.nonlocals:
        frame = _owner(frame, name)
    vm.assign(frame.ident, name, value)


def _owner(frame: Frame, name: str) -> Frame:
    parent = frame.parent
    while parent is not None and (name not in parent.scope.locals or parent.scope.is_class):
        parent = parent.parent
    return frame if parent is None else parent
