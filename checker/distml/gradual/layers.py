"""The layers of a model of PyTorch: parameters, bytes of results and multiply-adds, from the shapes that a run has met.

What torchinfo prints, without running: numbers where sizes are known, formulas where they have names, and None where something
is not known: a layer without a law here, a part of the model out of sight, a branch that may or may not be taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.gradual.work import is_known, sum_of, work_of
from distml.interp.shape_log import Other
from distml.interp.submodules import children_of, known_children
from distml.ops.registry import MANY
from distml.shapes import Dim
from distml.values import NONE, Class, InstanceRecord, Lib, Num, Ref, Tensor, Tup, Union

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.gradual.targets import Target
    from distml.interp.machine import Machine
    from distml.interp.shape_log import LayerCall
    from distml.values import Value

MAX_MODULES = 5000
BYTES = {"float": 4, "int": 8, "bool": 1, "complex": 8}
"""Bytes of an element of the default type of each kind."""


class Layer(NamedTuple):
    """A call of a layer, or of a function that multiplies matrices, or the parameters of a module that are its own (then `output`
    is None).

    `name` is the path in the model, empty where it has none, as a function has none. Amounts that are not known are None;
    `certain` is False where the call may not be made, or be made several times.
    """

    name: str
    type: str
    output: Value | None
    parameters: Dim | None
    bytes: Dim | None
    multiply_adds: Dim | None
    certain: bool


class Layers(NamedTuple):
    """The layers in the order of their calls, and the sums; None where one of them is not known."""

    rows: tuple[Layer, ...]
    parameters: Dim | None
    bytes: Dim | None
    multiply_adds: Dim | None

    def views(self) -> list[Value]:
        """Everything in which sizes occur that are to be named."""
        amounts = [each for row in self.rows for each in (row.parameters, row.bytes, row.multiply_adds)]
        outputs = [row.output for row in self.rows if row.output is not None]
        return [*outputs, *(Num(each) for each in (*amounts, *self[1:]) if each is not None)]


def layers_of(vm: Machine, target: Target, calls: Sequence[LayerCall], complete: bool) -> Layers | None:
    """The layers of the model that a target is a method of; None where it is no such model.

    `complete` says that every call was followed.
    """
    if not isinstance(target.receiver, Ref):
        return None
    vm.state = target.state
    names, whole = parts_of(vm, target.receiver)
    modules = [call.module for call in calls if call.module is not None]
    own = {part: _own_parameters(vm, part) for part in dict.fromkeys([*names, *modules])}
    counted = _shared_once(own)
    waiting = dict(counted)
    rows = [_row(vm, call, names, [] if call.module is None else waiting.pop(call.module, [])) for call in calls]
    rows += [
        Layer(name, _type(vm, part), None, _total(counted[part]), Dim.of(0), Dim.of(0), True)
        for part, name in names.items()
        if waiting.get(part, []) != []
    ]
    if not rows:
        return None
    total = sum_of([_total(counted[part]) for part in names]) if whole else None
    sure = complete and whole and all(row.certain for row in rows)
    return Layers(
        tuple(rows),
        total,
        sum_of([row.bytes for row in rows]) if sure else None,
        sum_of([row.multiply_adds for row in rows]) if sure else None,
    )


def parts_of(vm: Machine, model: Value) -> tuple[dict[Value, str], bool]:
    """A model and what it is made of, with dotted names, and whether that is all."""
    names: dict[Value, str] = {}
    waiting, whole = [(model, "")], True
    while waiting:
        part, name = waiting.pop()
        if part in names:
            continue  # one that several modules hold has the name of the first
        names[part] = name
        found = children_of(vm, part)
        whole = whole and found is not None and len(names) <= MAX_MODULES
        held = known_children(vm, part) if len(names) <= MAX_MODULES else []
        waiting += [(child, f"{name}.{own}" if name else own) for own, child in reversed(held)]
    return names, whole


def _row(vm: Machine, call: LayerCall, names: dict[Value, str], weights: list[Tensor] | None) -> Layer:
    record = None if call.module is None else vm.record(call.module)
    work = work_of(call, record.attrs if isinstance(record, InstanceRecord) else {})
    name = "" if call.module is None else names.get(call.module, "")
    kind = call.name.rpartition(".")[2].strip("_")
    return Layer(name, kind, call.output, _total(weights), _bytes(call.output), work, call.certain)


def _type(vm: Machine, part: Value) -> str:
    record = vm.record(part) if isinstance(part, Ref) else None
    return getattr(getattr(record, "cls", None), "name", "module").rpartition(".")[2]


def _own_parameters(vm: Machine, part: Value) -> list[Tensor] | None:
    """The parameters that a module has beside those of its parts; None where they are not all known."""
    record = vm.record(part) if isinstance(part, Ref) else None
    if not isinstance(record, InstanceRecord) or not record.exact or MANY in record.attrs:
        return None
    if isinstance(record.cls, Lib) and not is_known(record.cls.name, record.attrs):
        return None
    if not isinstance(record.cls, Lib | Class):
        return None
    found: list[Tensor] = []
    for value in record.attrs.values():
        if isinstance(value, Union) and any(isinstance(each, Tensor) and each.parameter for each in value.options):
            return None
        if isinstance(value, Tensor) and value.parameter:
            found.append(value)
    return found


def _shared_once(own: dict[Value, list[Tensor] | None]) -> dict[Value, list[Tensor] | None]:
    """Parameters that several modules hold are the first one's."""
    seen: set[int] = set()
    found: dict[Value, list[Tensor] | None] = {}
    for part, weights in own.items():
        found[part] = None if weights is None else [each for each in weights if each.ident not in seen]
        seen |= {each.ident for each in weights or ()}
    return found


def _total(weights: list[Tensor] | None) -> Dim | None:
    return None if weights is None else sum_of([each.shape.size for each in weights])


def _bytes(value: Value | None) -> Dim | None:
    """The bytes of a result, or of all tensors in a tuple of results."""
    if isinstance(value, Tup):
        return sum_of([_bytes(each) for each in value.items if each != NONE and not isinstance(each, Other)])
    if not isinstance(value, Tensor) or value.dtype not in BYTES:
        return None
    size = value.shape.size
    return None if size is None else size * BYTES[value.dtype]
