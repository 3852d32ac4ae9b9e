"""State dicts: what the parameters of a module are called and how large they are.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_op
from distml.interp.findings import fail
from distml.interp.submodules import tree_of
from distml.ops import Call, ShapeError
from distml.values import Class, Const, DictRecord, InstanceRecord, Ref, Tensor, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine
    from distml.shapes import Dim

_STATE, _LOAD = "torch.nn.Module.state_dict", "torch.nn.Module.load_state_dict"


def parameters_of(vm: Machine, module: Value) -> dict[Value, Tensor]:
    """The parameters that are known by their names in the state dict; none where not all parts are known."""
    found: dict[Value, Tensor] = {}
    for path, part in tree_of(vm, module) or ():
        record = vm.record(part) if isinstance(part, Ref) else None
        if not isinstance(record, InstanceRecord) or _has_a_way_of_its_own(vm, record.cls):
            return {}
        for name, value in record.attrs.items():
            if isinstance(value, Tensor) and value.parameter:
                found[Const(f"{path}.{name}" if path else name)] = value
    return found


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
    """`net.state_dict()`: the parameters that are known; there may be others."""
    found = parameters_of(vm, arguments.args[0]) if len(arguments.args) == 1 and not arguments.kwargs else {}
    if not found:
        return call_op(vm, _STATE, arguments, node, "torch")
    items: dict[Value, Value] = {key: Tensor("torch", value.shape, value.dtype) for key, value in found.items()}
    return vm.allocate(DictRecord(items, exact=False))


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
        if wanted.dims and given.dims is not None and _differ(wanted.dims, given.dims):
            text = f"load_state_dict: {key.value} has the shape {wanted!r}, the state dict holds {given!r}"
            fail(vm, ShapeError("SHP305", text, call.notes(*wanted.dims, *given.dims)), node)
            break
    return call_op(vm, _LOAD, arguments, node, "torch")


def _differ(wanted: tuple[Dim, ...], given: tuple[Dim, ...]) -> bool:
    return len(wanted) != len(given) or any(one.differs(other) for one, other in zip(wanted, given, strict=True))


WEIGHTS = {_STATE: _state, _LOAD: _load}
"""Methods of `nn.Module` that know the parameters by name."""
