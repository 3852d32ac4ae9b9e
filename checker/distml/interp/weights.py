"""State dicts: what the parameters of a module are called and how large they are.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_op
from distml.interp.findings import fail
from distml.interp.submodules import buffers_of, handing_out, is_told_apart, tree_of
from distml.ops import Call, ShapeError
from distml.ops.semantics.trees import states
from distml.ops.torch.nn.wrapping import COMPUTED, PARTLY
from distml.values import (
    NONE,
    Class,
    Const,
    DictRecord,
    InstanceRecord,
    IteratorRecord,
    Lib,
    Opaque,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from distml.interp.machine import Machine

_STATE, _LOAD = "torch.nn.Module.state_dict", "torch.nn.Module.load_state_dict"


def parameters_of(vm: Machine, module: Value) -> dict[Value, Tensor]:
    """The parameters that are known by their names in the state dict; none where not all parts are known."""
    found: dict[Value, Tensor] = {}
    for path, part in tree_of(vm, module) or ():
        record = vm.record(part) if isinstance(part, Ref) else None
        if not isinstance(record, InstanceRecord) or _has_a_way_of_its_own(vm, record.cls):
            return {}
        for name, value in record.attrs.items():
            if isinstance(value, Tensor) and value.parameter and name not in record.sometimes:
                found[Const(f"{path}.{name}" if path else name)] = value
    return found


def _every(
    vm: Machine, module: Value, names_of: Callable[[Machine, InstanceRecord], Iterable[str] | None]
) -> list[tuple[str, Tensor]] | None:
    """Tensors of a module with their names, in the order that it gives them; None where not all of some part are known."""
    tree = tree_of(vm, module)
    found: list[tuple[str, Tensor]] = []
    seen: set[int] = set()
    for path, part in tree or ():
        record = vm.record(part) if isinstance(part, Ref) else None
        if not isinstance(record, InstanceRecord) or not _KEPT_APART.isdisjoint(record.attrs):
            return None
        names = None if _holds_others(vm, record.cls) else names_of(vm, record)
        if names is None:
            return None
        # Tensors of one part are told apart by their names: rules make those of one shape as one.
        held = {name: value for name in names if isinstance(value := record.attrs.get(name), Tensor)}
        found += [(f"{path}.{name}" if path else name, each) for name, each in held.items() if each.ident not in seen]
        seen |= {each.ident for each in held.values()}
    return None if tree is None else found


def _own_parameters(vm: Machine, record: InstanceRecord) -> list[str] | None:
    """The names of the parameters that a part has itself; None where any other attribute may be one."""
    values = record.attrs.items()
    if any(
        isinstance(each, Union | Opaque) or (isinstance(each, Tensor) and n in record.sometimes) for n, each in values
    ):
        return None
    return [name for name, each in values if isinstance(each, Tensor) and each.parameter]


def _every_parameter(vm: Machine, module: Value) -> list[tuple[str, Tensor]] | None:
    return _every(vm, module, _own_parameters)


def _every_buffer(vm: Machine, module: Value) -> list[tuple[str, Tensor]] | None:
    return _every(vm, module, buffers_of)


def _holds_others(vm: Machine, cls: Value) -> bool:
    """Whether an object of a class may have parameters that are no attributes of its own."""
    if isinstance(cls, Class):
        order = vm.at(cls.address).mro
        own = any(isinstance(base, Class) and vm.patches.redefines(base.name, "named_parameters") for base in order)
        return own or any(base is None or (isinstance(base, Lib) and base.name in _UNLISTED) for base in order)
    return not isinstance(cls, Lib) or cls.name in _UNLISTED


def _handed_out(
    name: str, every: Callable[[Machine, Value], list[tuple[str, Tensor]] | None]
) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """`net.named_parameters()`, `net.buffers()` and their like: one by one where all are known."""
    others = handing_out(f"torch.nn.Module.{name}", tensors=True)

    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        unknown = others(vm, arguments, node)
        found = every(vm, arguments.args[0]) if len(arguments.args) == 1 and not arguments.kwargs else None
        if found is None:
            return unknown
        named = name.startswith("named_")
        return vm.allocate(IteratorRecord(tuple(Tup((Const(n), each)) if named else each for n, each in found)))

    return run


def _has_a_way_of_its_own(vm: Machine, cls: Value) -> bool:
    """Whether a class of the program, or one it comes from, says something about state dicts itself, as hooks do."""
    if not isinstance(cls, Class):
        return False
    mro = vm.at(cls.address).mro
    nodes = [vm.at(base.address).node for base in mro if isinstance(base, Class)]
    return None in mro or any(map(_names_state_dicts, nodes))


def _names_state_dicts(node: ast.ClassDef) -> bool:
    return any(
        "state_dict" in (each.attr if isinstance(each, ast.Attribute) else each.name)
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute | ast.FunctionDef)
    )


def _state(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`net.state_dict()`: all that it holds where every part of the module is known, else the parameters that are; there
    may be others."""
    alone = len(arguments.args) == 1 and not arguments.kwargs
    found = parameters_of(vm, arguments.args[0]) if alone else {}
    every = _every_tensor(vm, arguments.args[0]) if alone else None
    if not found and every is None:
        return call_op(vm, _STATE, arguments, node, "torch")
    items: dict[Value, Value] = {
        key: Tensor("torch", value.shape, value.dtype, width=value.width)
        for key, value in (found if every is None else every).items()
    }
    return vm.allocate(DictRecord(items, exact=every is not None))


def _every_tensor(vm: Machine, module: Value) -> dict[Value, Tensor] | None:
    """The parameters and buffers of a module by their names, in the order of its state dict; None where not all are known."""
    tree = tree_of(vm, module)
    if tree is None or _every_parameter(vm, module) is None or not is_told_apart(vm, tree):
        return None
    found: dict[Value, Tensor] = {}
    for path, part in tree:
        record = vm.record(part) if isinstance(part, Ref) else None
        attrs = record.attrs if isinstance(record, InstanceRecord) else {}
        buffers = buffers_of(vm, record) if isinstance(record, InstanceRecord) else None
        if buffers is None or not isinstance(record, InstanceRecord) or _has_a_way_of_its_own(vm, record.cls):
            return None
        names = [name for name, value in attrs.items() if isinstance(value, Tensor) and value.parameter]
        for name in (*names, *(name for name, persistent in buffers.items() if persistent)):
            value = attrs.get(name)
            if isinstance(value, Tensor):
                found[Const(f"{path}.{name}" if path else name)] = value
    return found


def _load(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`net.load_state_dict(state)`: what has a parameter's name has its sizes, whether `strict` or not (SHP305)."""
    module, state = (*arguments.values(), None, None)[:2]
    record = vm.record(state) if isinstance(state, Ref) else None
    own = parameters_of(vm, module) if module is not None and isinstance(record, DictRecord) else {}
    call = Call(vm, _LOAD, "torch")
    for key, value in record.items.items() if isinstance(record, DictRecord) else ():
        target = own.get(key)
        if target is None or not isinstance(value, Tensor) or not isinstance(key, Const):
            continue
        wanted, given = call.shape(target), call.shape(value)
        # A parameter without axes takes one number in an axis.
        if wanted.dims and given.dims is not None and not wanted.may_equal(given):
            text = f"load_state_dict: {key.value} has the shape {wanted!r}, the state dict holds {given!r}"
            fail(vm, ShapeError("SHP305", text, call.notes(*wanted.dims, *given.dims)), node)
            break
    return call_op(vm, _LOAD, arguments, node, "torch")


_KEPT_APART = frozenset({COMPUTED, PARTLY})
"""Marks of a layer that has tensors which are no attributes here."""
_UNLISTED = frozenset(
    f"torch.nn.{name}"
    for name in """AdaptiveLogSoftmaxWithLoss MultiheadAttention ParameterDict ParameterList Transformer
    TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer""".split()
)
"""Layers of which not every parameter is an attribute."""


def _functional_call(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`torch.func.functional_call(net, parameters, args)`: what the module gives, if they have the shapes of its own."""
    module, given = (*arguments.args[:2], None, None)[:2]
    record = vm.record(given) if isinstance(given, Ref) else None
    own = dict(_every_parameter(vm, module) or ()) if module is not None and isinstance(record, DictRecord) else {}
    call = Call(vm, _FUNCTIONAL, "torch")
    if own and isinstance(record, DictRecord) and _fit(call, own, record):
        given = states(call)
    rest = Arguments([*arguments.args[:1], given or NONE, *arguments.args[2:]], arguments.kwargs, arguments.open)
    return call_op(vm, _FUNCTIONAL, arguments if given is None else rest, node, "torch")


def _fit(call: Call, own: Mapping[str, Tensor], given: DictRecord) -> bool:
    for key, value in given.items.items():
        known = own.get(str(key.value)) if isinstance(key, Const) else None
        if known is None or not isinstance(value, Tensor) or call.shape(known) != call.shape(value):
            return False
    return given.exact


_FUNCTIONAL = "torch.func.functional_call"

WEIGHTS = {
    _FUNCTIONAL: _functional_call,
    _STATE: _state,
    _LOAD: _load,
    **{f"torch.nn.Module.{name}": _handed_out(name, _every_parameter) for name in ("named_parameters", "parameters")},
    **{f"torch.nn.Module.{name}": _handed_out(name, _every_buffer) for name in ("named_buffers", "buffers")},
}
"""Methods of `nn.Module` that know the parameters by name."""
