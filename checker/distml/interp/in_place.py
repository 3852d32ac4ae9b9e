"""Which object a call gives: its receiver, changed in place, one of its arguments, or a new one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.dialect import TENSOR_CLASSES
from distml.values import ListRecord, Ref, Tensor, Tup, Value, objects_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.interp.machine import Machine


_AUGMENTED = frozenset(
    "__iadd__ __isub__ __imul__ __imatmul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __ilshift__ __irshift__ "
    "__iand__ __ixor__ __ior__".split()
)
"""https://docs.python.org/3/reference/datamodel.html#object.__iadd__"""


def is_in_place(name: str) -> bool:
    """Whether a method changes its receiver, and gives it."""
    last = name.rpartition(".")[2]
    return last in _AUGMENTED if last.startswith("__") else last.endswith("_")


_FILLING = frozenset("shuffle fill_diagonal at nan_to_num vector_to_parameters".split())
"""Functions of NumPy and PyTorch that write into what they are given, as those whose names end with `_` do."""


def forget_filled(vm: Machine, name: str, values: Sequence[Value]) -> None:
    """Before a function of a library is called: where it may write into what it is given, the numbers there are unknown.

    The rules of methods say themselves what these write into.
    """
    owner, _, last = name.rpartition(".")
    fills = last.endswith("_") or last in _FILLING or name.startswith("torch.distributed.")
    for value in values if fills and not last.startswith("__") and owner not in TENSOR_CLASSES else ():
        forget_numbers(vm, value, views=True)


def forget_numbers(vm: Machine, value: Value, views: bool = False) -> None:
    """Something may have been written into a tensor, or into those of a sequence: their numbers are not known any more, nor,
    with `views`, those of what it may be a part of.
    """
    record = vm.record(value) if isinstance(value, Ref) else None
    listed = record.items or () if isinstance(record, ListRecord) else ()
    for part in value.items if isinstance(value, Tup) else (value, *listed):
        if isinstance(part, Tensor) and (part.numbers or (views and part.may_hold_numbers)):
            vm.reshaped(part, part.shape)


def perhaps_given(vm: Machine, result: Value, values: Sequence[Value]) -> Value:
    """The result of a call that works on nothing in place: of an argument's shape, it may be the argument itself; and it, or
    its parts, may share the elements of one whose numbers are known.
    """
    if isinstance(result, Tensor):
        return _given(result, values)
    if any(isinstance(v, Tensor) and v.numbers for v in values):
        if isinstance(result, Tup):
            return replace(result, items=tuple(perhaps_given(vm, each, values) for each in result.items))
        record = vm.record(result) if isinstance(result, Ref) else None
        if isinstance(record, ListRecord) and isinstance(result, Ref) and record.items:
            items = tuple(perhaps_given(vm, each, values) for each in record.items)
            vm.replace(result, replace(record, items=items))
    return result


def _given(result: Tensor, values: Sequence[Value]) -> Tensor:
    alike = [v for v in values if isinstance(v, Tensor) and (v is result or v.shape == result.shape or v.numbers)]
    if not alike:
        return result
    made = result.copied(*alike)
    # What a layer inside made stays that one's; what the call was given and gives back is its own.
    return made if any(v is result for v in alike) else replace(made, met=objects_of(result))
