"""What a module of the project is made of: its children, in the order they were set."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.calls import Arguments, call_op
from distml.interp.classes import is_module
from distml.interp.library import library_bases
from distml.values import Class, Const, InstanceRecord, IteratorRecord, Lib, Ref, Tup, Value

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
            return call_op(vm, op, arguments, node, "torch")
        items = tuple(Tup((Const(name), item)) if named else item for name, item in found)
        return vm.allocate(IteratorRecord(items))

    return run


SUBMODULES = {
    "torch.nn.Module.children": _children("torch.nn.Module.children", named=False),
    "torch.nn.Module.named_children": _children("torch.nn.Module.named_children", named=True),
}
"""Methods of `nn.Module` that list what an object of a class of the project holds."""
