"""keras: the layers of a model, and what each made of its input.

https://keras.io/api/models/model
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import LAYER, in_graph
from distml.ops.bindings.keras.inner_layers import inner_layers
from distml.ops.bindings.keras.models import INPUTS, ITEMS, MODEL, NETWORK, OUTPUTS, SEQUENTIAL, parts
from distml.ops.call import NONE
from distml.ops.registry import MADE, attribute, op
from distml.shapes import Dim
from distml.values import Const, InstanceRecord, Lib, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

MAX_GRAPH = 1_000
"""So many layers of a graph are looked at for one of a name."""


def _graph(call: Call, attrs: dict[str, Value]) -> list[Value]:
    """The layers of a model that are known: those of a row, or what its outputs are made by."""
    if ITEMS in attrs:
        return list(call.items(attrs[ITEMS]) or ())
    found, waiting = list[Value](), list((parts(call, attrs.get(OUTPUTS, NONE)) or {}).values())
    while waiting and len(found) < MAX_GRAPH:
        layer, given = _made_by(call, waiting.pop())
        if layer is not None and layer not in found:
            found.append(layer)
            waiting += given.values()
    return found


def _made_by(call: Call, tensor: Tensor) -> tuple[Value | None, dict[Value, Tensor]]:
    """The layer that made a tensor of a graph, and what it was given; None where that is not told, as of an input."""
    made = call.world.get((MADE, tensor.ident))
    layer, given = made.items if isinstance(made, Tup) and made.items else (None, NONE)
    return layer, parts(call, given) or {}


@op(f"{MODEL}.get_layer")
def get_layer(call: Call, self: Value, name: Value = NONE, index: Value = NONE) -> Value:
    """https://keras.io/api/models/model: the layer of a name that the program gave it, or of a number"""
    attrs, label = call.attrs(self) or {}, call.const(name, str)
    if NETWORK in attrs:
        return _within(call, attrs, label)
    row, number = _in_order(call, attrs), call.const(index, int)
    if row is not None and isinstance(number, int):
        return row[number] if -len(row) <= number < len(row) else call.unknown()
    named = [each for each in _graph(call, attrs) if _label(call, each) == label]
    return named[0] if isinstance(label, str) and len(named) == 1 else call.unknown()


def _within(call: Call, attrs: dict[str, Value], label: object) -> Value:
    """A layer of a well-known network, which the image has come through."""
    network, image = call.const(attrs[NETWORK], str), attrs[INPUTS]
    known = inner_layers(network).get(label) if isinstance(label, str) else None
    if known is None or not isinstance(image, Tensor):
        return call.unknown()
    level, channels = known
    batch, height, width, _ = call.shape(image).head
    made = call.tensor([batch, height // 2**level, width // 2**level, Dim.of(channels)], "float", "tensorflow")
    return call.world.allocate(InstanceRecord(Lib(LAYER), {MADE: in_graph(call, made)}))


def _label(call: Call, layer: Value) -> object:
    own = (call.attrs(layer) or {}).get("__name__")
    return own.value if isinstance(own, Const) else None


@attribute(f"{MODEL}.layers", f"{SEQUENTIAL}.layers")
def layers(call: Call, self: Value) -> Value:
    """https://keras.io/api/models/model: the layers in their order"""
    row = _in_order(call, call.attrs(self) or {})
    return call.unknown() if row is None else call.list_of(row)


def _in_order(call: Call, attrs: dict[str, Value]) -> list[Value] | None:
    """The layers of a row without the one that only says what the input is, or those of a graph, in which it is the first and
    not known. None where a graph is more than one way from its input to its output: then their order is not told."""
    if ITEMS in attrs:
        items = call.items(attrs[ITEMS])
        own = None if items is None else [each for each in items if not isinstance(each, Tensor)]
        return None if own is None else [each for each in own if not _is_input(call, each)]
    ends = [parts(call, attrs.get(each, NONE)) or {} for each in (INPUTS, OUTPUTS)]
    way: list[Value] = []
    while len(ends[0]) == len(ends[1]) == 1:
        (first,), (last,) = (end.values() for end in ends)
        layer, given = _made_by(call, last)
        if last.ident == first.ident or layer is None or layer in way or len(way) > MAX_GRAPH:
            return [call.unknown(), *way] if last.ident == first.ident else None
        way.insert(0, layer)
        ends[1] = given
    return None


def _is_input(call: Call, layer: Value) -> bool:
    record = call.world.record(layer) if isinstance(layer, Ref) else None
    return isinstance(record, InstanceRecord) and record.cls == Lib("keras.layers.InputLayer")
