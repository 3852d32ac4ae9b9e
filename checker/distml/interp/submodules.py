"""What a module of the project is made of: its children, in the order they were set."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_op
from distml.interp.library import library_bases
from distml.interp.storage import ITEMS, forget_attributes, is_submodule
from distml.interp.unsettled import unsettle_parts
from distml.ops.torch.nn.norm import BUFFERS
from distml.values import (
    NONE,
    Bound,
    Class,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    IteratorRecord,
    Lib,
    ListRecord,
    Opaque,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from distml.interp.machine import Machine


COMPOUND = frozenset(
    f"torch.nn.{name}"
    for name in (
        *("Transformer", "TransformerDecoder", "TransformerDecoderLayer"),
        *("TransformerEncoder", "TransformerEncoderLayer"),
    )
)
"""Layers of PyTorch that are made of others, which are not followed one by one."""


MAX_PARTS = 3000
"""What is made of more modules is not handed out one by one."""


def children_of(vm: Machine, value: Value) -> list[tuple[str, Value]] | None:
    """The direct submodules of an object with their names; None when they are not all known."""
    record = vm.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or not record.exact or not _is_followed(vm, record.cls):
        return None
    found: dict[Value, str] = {}
    for name, item in _attributes(vm, record):
        known = is_submodule(vm, item)
        if known is None or (known and name in record.sometimes):
            return None
        if known:
            # A module that is set twice is listed once.
            found.setdefault(item, name)
    return [(name, item) for item, name in found.items()]


def known_children(vm: Machine, value: Value) -> list[tuple[str, Value]]:
    """The direct submodules of an object that are certainly there, with their names."""
    record = vm.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord):
        return []
    return [
        (name, item)
        for name, item in _attributes(vm, record)
        if isinstance(item, Ref) and name not in record.sometimes and is_submodule(vm, item)
    ]


def tree_of(vm: Machine, value: Value, name: str = "") -> list[tuple[str, Value]] | None:
    """An object and all that it is made of, each behind what holds it, with dotted names; None where not all is known."""
    options = value.options if isinstance(value, Union) else (value,)
    parts = [children_of(vm, option) for option in options]
    if isinstance(value, Union):
        return [(name, value)] if all(part == [] for part in parts) else None
    found: dict[Value, str] = {value: name}
    for own, child in parts[0] if parts[0] is not None else ():
        below = tree_of(vm, child, f"{name}.{own}" if name else own)
        if below is None or len(found) + len(below) > MAX_PARTS:
            return None
        for path, part in below:
            found.setdefault(part, path)
    return None if parts[0] is None else [(path, part) for part, path in found.items()]


def is_told_apart(vm: Machine, tree: list[tuple[str, Value]]) -> bool:
    """Whether each part of a module is held once, under one name."""
    records = [
        record for _, part in tree if isinstance(part, Ref) and isinstance(record := vm.record(part), InstanceRecord)
    ]
    # What a mapping holds is listed as its attribute too.
    held = sum(len({pair for pair in _attributes(vm, record) if is_submodule(vm, pair[1])}) for record in records)
    return held == len(tree) - 1 and len(records) == len(tree)


def _is_followed(vm: Machine, cls: Value) -> bool:
    """Whether the attributes of an object of this class are all that it is made of."""
    if isinstance(cls, Class):
        return not any(isinstance(base, Lib) and base.name in COMPOUND for base in vm.at(cls.address).mro)
    return isinstance(cls, Lib) and cls.name not in COMPOUND and "torch.nn.Module" in library_bases(cls.name)


def _attributes(vm: Machine, record: InstanceRecord) -> Iterator[tuple[str, Value]]:
    """What an object holds by name; what a container holds has the name it was given, or its number."""
    yield from ((name, item) for name, item in record.attrs.items() if name != ITEMS)
    items = record.attrs.get(ITEMS, NONE)
    held = vm.record(items) if isinstance(items, Ref) else None
    if isinstance(held, DictRecord) and held.exact:
        yield from ((str(key.value) if isinstance(key, Const) else "", item) for key, item in held.items.items())
    elif isinstance(held, ListRecord) and held.items is not None:
        yield from ((str(index), item) for index, item in enumerate(held.items))
    elif items != NONE:
        yield "", vm.opaque("child")


def _children(op: str, named: bool) -> Callable[[Machine, Arguments, ast.AST], Value]:
    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        found = children_of(vm, arguments.args[0]) if len(arguments.args) == 1 else None
        if found is None:
            return handing_out(op)(vm, arguments, node)
        items = tuple(Tup((Const(name), item)) if named else item for name, item in found)
        return vm.allocate(IteratorRecord(items))

    return run


def _modules(op: str, named: bool) -> Callable[[Machine, Arguments, ast.AST], Value]:
    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        found = tree_of(vm, arguments.args[0]) if len(arguments.args) == 1 and not arguments.kwargs else None
        if found is None:
            return handing_out(op)(vm, arguments, node)
        return vm.allocate(IteratorRecord(tuple(Tup((Const(n), item)) if named else item for n, item in found)))

    return run


def _apply(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`net.apply(f)`: f is given each part, then what holds it."""
    found = tree_of(vm, arguments.args[0]) if len(arguments.args) == 2 else None
    if found is None:
        return handing_out("torch.nn.Module.apply")(vm, arguments, node)
    for _, part in sorted(found, key=lambda each: -(each[0].count(".") + bool(each[0]))):
        vm.apply(arguments.args[1], [part])
    return arguments.args[0]


def handing_out(op: str, tensors: bool = False) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """A method that gives parts of a module that nothing tells apart, its `tensors` or its modules: code in sight may
    change any of them."""

    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        module = arguments.args[0] if arguments.args else NONE
        if isinstance(module, Ref):
            functions = [f.function if isinstance(f, Bound) else f for f in arguments.args[1:]]
            modules = [vm.frame_of(f.frame).module for f in functions if isinstance(f, Function)]
            unsettle_parts(vm, module, (vm.frame.module, *modules), tensors)
        return call_op(vm, op, arguments, node, "torch")

    return run


def _named(op: str, tensors: bool) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """`net.get_submodule("body.0")`: the part that a path leads to, which is one of its `tensors` or a module."""

    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        owner, path = (*arguments.values(), NONE, NONE)[:2]
        found = _led_to(vm, owner, path.value) if isinstance(path, Const) and isinstance(path.value, str) else None
        if found is not None and (isinstance(found, Tensor) if tensors else is_submodule(vm, found)):
            return found
        return handing_out(op, tensors)(vm, arguments, node)

    return run


def _led_to(vm: Machine, owner: Value, path: str) -> Value | None:
    """What the attributes of an object, one after the other, lead to."""
    found: Value | None = owner
    for name in path.split(".") if path else ():
        found = None if found is None else vm.language.find_attribute_of(vm, found, name)
    return found


def note_buffer(vm: Machine, module: Value, name: Value, persistent: Value) -> None:
    """A module knows of an attribute that it is a buffer, and whether its state dict has it."""
    record = vm.record(module) if isinstance(module, Ref) else None
    if not isinstance(module, Ref) or not isinstance(record, InstanceRecord):
        return
    known = record.attrs.get(_REGISTERED, Tup(()))
    pair = Tup((name, persistent))
    more = Tup((*known.items, pair)) if isinstance(known, Tup) else known
    vm.replace(module, record.having({_REGISTERED: more}))


def buffers_of(vm: Machine, record: InstanceRecord) -> dict[str, bool] | None:
    """The names of the buffers that a module has itself, and whether its state dict has them; None where not all are known."""
    found = dict.fromkeys((name for name in BUFFERS if name in record.attrs), True)
    known = record.attrs.get(_REGISTERED, Tup(()))
    for pair in known.items if isinstance(known, Tup) else (NONE,):
        name, persistent = pair.items if isinstance(pair, Tup) else (NONE, NONE)
        if not isinstance(name, Const) or not isinstance(name.value, str) or not isinstance(persistent, Const):
            return None
        found[name.value] = bool(persistent.value)
    held = [record.attrs.get(name, NONE) for name in found]
    settled = _REGISTERED not in record.sometimes and not any(isinstance(each, Union | Opaque) for each in held)
    return found if settled and not any(name in record.sometimes for name in found) else None


_REGISTERED = "__registered__"
"""The attribute that lists the buffers which a module was given."""
SUBMODULES: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {}
"""Methods of `nn.Module` that hand out the modules, parameters or buffers it holds."""
SUBMODULES["torch.nn.Module.get_submodule"] = _named("torch.nn.Module.get_submodule", tensors=False)
SUBMODULES["torch.nn.Module.get_parameter"] = _named("torch.nn.Module.get_parameter", tensors=True)
SUBMODULES["torch.nn.Module.get_buffer"] = _named("torch.nn.Module.get_buffer", tensors=True)
SUBMODULES["torch.nn.Module.apply"] = _apply
SUBMODULES["torch.nn.Module.modules"] = _modules("torch.nn.Module.modules", named=False)
SUBMODULES["torch.nn.Module.named_modules"] = _modules("torch.nn.Module.named_modules", named=True)
SUBMODULES["torch.nn.Module.children"] = _children("torch.nn.Module.children", named=False)
SUBMODULES["torch.nn.Module.named_children"] = _children("torch.nn.Module.named_children", named=True)


def _set_submodule(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`net.set_submodule("body.0", layer)`: a path that is not known may lead to anything."""
    owner, path, layer = (*arguments.values(), NONE, NONE, NONE)[:3]
    parent, _, name = (
        path.value.rpartition(".") if isinstance(path, Const) and isinstance(path.value, str) else ("",) * 3
    )
    target = _led_to(vm, owner, parent)
    if target is not None and name:
        vm.language.set_attribute(vm, target, name, layer, node)
    elif isinstance(owner, Ref):
        forget_attributes(vm, owner)
    return NONE


SUBMODULES["torch.nn.Module.set_submodule"] = _set_submodule
SETTERS = tuple(
    f"torch.nn.Module.{name}" for name in ("__setattr__", "add_module", "register_module", "register_parameter")
)
"""Methods that set an attribute by name."""
