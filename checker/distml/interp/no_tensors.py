"""What torch takes for no tensor: a string, a list, a tuple, a dict, a set or a module where the tensor `input` is needed.

torch names the tensor that a function works on `input`, and takes nothing but a tensor there (numbers here and there aside);
the rules name their parameters as torch does. None says nothing: it stands for what is not known as often as for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.typetests import has_foreign_base, is_instance
from distml.ops import ShapeError
from distml.ops.registry import find_layer, find_op
from distml.values import (
    Claimed,
    Const,
    DictRecord,
    InstanceRecord,
    Lib,
    ListRecord,
    Prim,
    Ref,
    SetRecord,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.interp.machine import Machine
    from distml.ops import Call

_PASSING = frozenset({"torch.nn.Identity", "torch.nn.Sequential"})
"""Layers that hand on whatever they are given."""
_WORKED_ON = {"input": "a tensor", "ndarray": "an array"}
_KINDS = {ListRecord: "a list", DictRecord: "a dict", SetRecord: "a set"}


def require_tensor(vm: Machine, name: str, rule: object, args: Sequence[Value], text: str) -> None:
    """Raise `ShapeError` where a function or layer of torch is given something that is certainly no tensor as its `input`.

    `rule` is what is about to be run; that of a constructor asks for none.
    """
    kind = _kind(vm, args[0]) if args else None
    if kind is None or rule is getattr(find_layer(name), "init", None):
        return
    if not vm.patches.dispatching and takes_input(name):
        raise ShapeError("SHP307", f"{text} works on {_WORKED_ON[_first_of(name)]}, gets {kind}")


def takes_input(name: str) -> bool:
    """Whether the first argument of a function or layer is torch's `input`, or an array for it."""
    if not name.startswith("torch.") or name.startswith("torch.Tensor.") or name in _PASSING:
        return False
    return _first_of(name) in _WORKED_ON


def _first_of(name: str) -> str:
    """What the rule of a function or layer calls its first argument."""
    layer = find_layer(name)
    rule = find_op(name) if layer is None else getattr(layer, "forward", None)
    rule = getattr(rule, "__wrapped__", rule)
    return "" if rule is None else "".join(rule.__code__.co_varnames[1 if layer is None else 2 :][:1])


def _kind(vm: Machine, value: Value) -> str | None:
    """What a value certainly is, if that is not a tensor."""
    if isinstance(value, Const):
        return "a string" if isinstance(value.value, str | bytes) else None
    if isinstance(value, Claimed):
        return None
    if isinstance(value, Prim):
        return "a string" if value.kind in ("str", "bytes") else None
    if isinstance(value, Tup):
        return "a tuple"
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(record, InstanceRecord):
        return (
            "a module" if is_instance(vm, value, Lib("torch.nn.Module")) and not has_foreign_base(vm, record) else None
        )
    return _KINDS.get(type(record))


_CONVERTERS = frozenset("array asarray asarray_chkfinite ascontiguousarray asfortranarray require fromiter".split())
"""What gives an array of NumPy's own class, whatever it is made from."""


def is_theirs(vm: Machine, call: Call) -> bool:
    """Whether what an argument's class defines is what the call does, and that class is not known."""
    return call.foreign or (call.doubtful and _dispatches(vm, call.name))


def _dispatches(vm: Machine, name: str) -> bool:
    """Whether a function does with an argument what the argument's class defines.

    NumPy's functions do. torch's take tensors, unless the program has a class with `__torch_function__`.
    """
    if vm.patches.dispatching and name.startswith("torch."):
        return True
    owner, _, last = name.rpartition(".")
    if owner == "numpy.ndarray":
        return last == "dot"
    return name.startswith("numpy.") and owner != "numpy.random" and last not in _CONVERTERS
