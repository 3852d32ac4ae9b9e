"""keras: a model made anew of the same layers.

https://keras.io/api/models/model
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import in_graph, unbuilt
from distml.ops.bindings.keras.graphs import graph_of
from distml.ops.bindings.keras.models import INPUTS, ITEMS, MODEL, OUTPUTS, SEQUENTIAL, Sequential, alike, parts
from distml.ops.bindings.keras.names import FEATURES
from distml.ops.call import NONE
from distml.ops.registry import BUILT, MADE, op
from distml.values import InstanceRecord, Lib, Ref, Tensor, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_INNER = ("layer", "cell")
"""Attributes of layers that hold another."""


@op("keras.clone_model", "keras.models.clone_model")
def clone_model(call: Call, model: Value, *args: Value, **options: Value) -> Value:
    """https://keras.io/api/models/model/#clone_model-function: layers of the same options, with weights of their own"""
    attrs = call.attrs(model) or {}
    made = None
    if not args and not options:
        made = _row(call, attrs) if ITEMS in attrs else _graph(call, attrs) if OUTPUTS in attrs else None
    return call.unknown("model") if made is None else made


def _row(call: Call, attrs: dict[str, Value]) -> Value | None:
    declared = attrs.get(INPUTS)
    first = [_same_input(call, declared)] if isinstance(declared, Tensor) else []
    items = [each for each in call.items(attrs[ITEMS]) or () if not isinstance(each, Tensor)]
    layers = [_anew(call, each) for each in items]
    if call.items(attrs[ITEMS]) is None or None in layers:
        return None
    row = call.list_of([*first, *(each for each in layers if each is not None)])
    return call.world.allocate(InstanceRecord(Lib(SEQUENTIAL), Sequential.init(call, row)))


def _graph(call: Call, attrs: dict[str, Value]) -> Value | None:
    """Every layer made anew and called again, in the order of the graph."""
    graph = graph_of(call, attrs)
    layers = {node.layer: _anew(call, node.layer) for node in graph.met.values() if node.layer is not None}
    if not graph.known or None in layers.values():
        return None
    inputs, outputs = (parts(call, attrs.get(each, NONE)) or {} for each in (INPUTS, OUTPUTS))
    made: dict[int, Tensor] = {each.ident: _same_input(call, each) for each in inputs.values()}
    for ident in graph.before:
        node = graph.met[ident]
        layer = None if node.layer is None else layers[node.layer]
        if layer is None:
            continue
        wanted = parts(call, node.structure) or {}
        given = {key: made[each.ident] for key, each in wanted.items()}
        result = call.apply(layer, alike(call, node.structure, given))
        if not isinstance(result, Tensor):
            return None
        made[ident] = result
    ends = [{key: made[each.ident] for key, each in end.items()} for end in (inputs, outputs)]
    arranged = [alike(call, attrs[name], end) for name, end in zip((INPUTS, OUTPUTS), ends, strict=True)]
    return call.world.allocate(InstanceRecord(Lib(MODEL), dict(zip((INPUTS, OUTPUTS), arranged, strict=True))))


def _same_input(call: Call, declared: Tensor) -> Tensor:
    return in_graph(call, call.tensor(call.shape(declared), declared.dtype, "tensorflow"))


def _anew(call: Call, layer: Value) -> Value | None:
    """A layer of the library with the same options, before its first input; None for others, whose class makes them."""
    record = call.world.record(layer) if isinstance(layer, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Lib) or not record.exact:
        return None
    if ITEMS in record.attrs or OUTPUTS in record.attrs:
        return clone_model(call, layer)
    attrs = {name: value for name, value in record.attrs.items() if name not in (MADE, BUILT)}
    attrs |= {FEATURES: unbuilt(call)} if FEATURES in attrs else {}
    for name in _INNER:
        if name in attrs:
            inner = _anew(call, attrs[name])
            if inner is None:
                return None
            attrs[name] = inner
    return call.world.allocate(InstanceRecord(record.cls, attrs))
