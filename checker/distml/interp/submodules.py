"""What a module of the project is made of: its children, in the order they were set."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.calls import Arguments, call_op
from distml.interp.classes import is_module
from distml.interp.library import library_bases
from distml.interp.storage import forget_attributes
from distml.interp.unsettled import unsettle_parts
from distml.values import (
    NONE,
    Bound,
    Class,
    Const,
    Function,
    InstanceRecord,
    IteratorRecord,
    Lib,
    Ref,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine


def children_of(vm: Machine, value: Value) -> list[tuple[str, Value]] | None:
    """The direct submodules of an object with their names; None when they are not all known."""
    record = vm.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or not record.exact or not isinstance(record.cls, Class):
        return None
    found: dict[Value, str] = {}
    for name, item in record.attrs.items():
        known = _is_submodule(vm, item)
        if known is None:
            return None
        if known:
            # A module that is set twice is listed once.
            found.setdefault(item, name)
    return [(name, item) for item, name in found.items()]


def _is_submodule(vm: Machine, value: Value) -> bool | None:
    if isinstance(value, Const | Tup | Class):
        return False
    record = vm.record(value) if isinstance(value, Ref) else None
    if record is not None and not isinstance(record, InstanceRecord):
        return False
    if isinstance(record, InstanceRecord) and isinstance(record.cls, Class):
        cls = vm.at(record.cls.address)
        return True if is_module(cls.mro) else None if cls.open else False
    if isinstance(record, InstanceRecord) and isinstance(record.cls, Lib):
        return "torch.nn.Module" in library_bases(record.cls.name)
    return None if _may_be_module(value) else False


def _may_be_module(value: Value) -> bool:
    from distml.values import Expr, Opaque, Union

    return isinstance(value, Opaque | Expr | Union)


def _children(op: str, named: bool) -> Callable[[Machine, Arguments, ast.AST], Value]:
    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        found = children_of(vm, arguments.args[0]) if len(arguments.args) == 1 else None
        if found is None:
            return _handing_out(op)(vm, arguments, node)
        items = tuple(Tup((Const(name), item)) if named else item for name, item in found)
        return vm.allocate(IteratorRecord(items))

    return run


def _handing_out(op: str) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """A method that gives parts of a module that nothing tells apart: code in sight may change any of them."""

    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        module = arguments.args[0] if arguments.args else NONE
        if isinstance(module, Ref):
            functions = [f.function if isinstance(f, Bound) else f for f in arguments.args[1:]]
            modules = [vm.frame_of(f.frame).module for f in functions if isinstance(f, Function)]
            unsettle_parts(vm, module, (vm.frame.module, *modules))
        return call_op(vm, op, arguments, node, "torch")

    return run


SUBMODULES = {
    f"torch.nn.Module.{name}": _handing_out(f"torch.nn.Module.{name}")
    for name in (
        *("apply", "get_submodule", "modules", "named_modules"),
        *("parameters", "named_parameters", "buffers", "named_buffers", "get_parameter", "get_buffer"),
    )
}
"""Methods of `nn.Module` that hand out the modules, parameters or buffers it holds."""
SUBMODULES["torch.nn.Module.children"] = _children("torch.nn.Module.children", named=False)
SUBMODULES["torch.nn.Module.named_children"] = _children("torch.nn.Module.named_children", named=True)


def _set_submodule(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`net.set_submodule("body.0", layer)`: a path that is not known may lead to anything."""
    from distml.interp.attributes import find_attribute_of, set_attribute

    owner, path, layer = (*arguments.values(), NONE, NONE, NONE)[:3]
    names = path.value.split(".") if isinstance(path, Const) and isinstance(path.value, str) else []
    target: Value | None = owner
    for name in names[:-1]:
        target = None if target is None else find_attribute_of(vm, target, name)
    if target is not None and names:
        set_attribute(vm, target, names[-1], layer, node)
    elif isinstance(owner, Ref):
        forget_attributes(vm, owner)
    return NONE


SUBMODULES["torch.nn.Module.set_submodule"] = _set_submodule
SETTERS = tuple(
    f"torch.nn.Module.{name}"
    for name in ("__setattr__", "add_module", "register_buffer", "register_module", "register_parameter")
)
"""Methods that set an attribute by name."""
