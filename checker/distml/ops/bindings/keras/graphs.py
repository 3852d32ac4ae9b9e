"""keras: the layers of a model, and what each made of its input.

https://keras.io/api/models/model
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.bindings.keras.base import LAYER, in_graph
from distml.ops.bindings.keras.inner_layers import inner_layers
from distml.ops.bindings.keras.models import INPUTS, ITEMS, MODEL, NETWORK, OUTPUTS, SEQUENTIAL, parts
from distml.ops.call import NONE
from distml.ops.registry import MADE, attribute, op
from distml.shapes import Dim
from distml.values import (
    Const,
    DictRecord,
    InstanceRecord,
    Lib,
    ListRecord,
    Many,
    Opaque,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distml.ops.call import Call

INPUT_LAYER = "keras.layers.InputLayer"
MAX_GRAPH = 1_000
"""So many layers of a graph are looked at for one of a name."""


class Node(NamedTuple):
    """A call of a layer in a graph: what it was given, and the tensors of that. Of an input, the layer is None."""

    layer: Value | None
    structure: Value
    given: tuple[Tensor, ...]


class _Graph:
    """The calls of layers between the inputs and the outputs of a model."""

    def __init__(self, call: Call, inputs: Iterable[Tensor], outputs: Iterable[Tensor]) -> None:
        self.call, self.inputs = call, {each.ident: each for each in inputs}
        self.known = True
        """Whether all that leads to the outputs is a layer in sight."""
        self.met: dict[int, Node] = {}
        self.sources: dict[int, tuple[int, ...]] = {}
        self.before: list[int] = []
        """The calls, each behind those that it needs."""
        for output in outputs:
            self._meet(output)
        # Every input is a layer of the model, whether an output needs it or not.
        for ident in self.inputs.keys() - self.met.keys():
            self.met[ident], self.sources[ident] = Node(None, NONE, ()), ()
            self.before.insert(0, ident)

    def _meet(self, output: Tensor) -> None:
        waiting = [(output, False)]
        while waiting:
            tensor, done = waiting.pop()
            if done:
                self.before.append(tensor.ident)
            elif tensor.ident not in self.met and len(self.met) < MAX_GRAPH:
                node = self._node(tensor)
                self.met[tensor.ident] = node
                self.sources[tensor.ident] = tuple(each.ident for each in node.given)
                waiting.append((tensor, True))
                waiting += [(each, False) for each in reversed(node.given)]
            elif tensor.ident not in self.met:
                self.known = False

    def _node(self, tensor: Tensor) -> Node:
        if tensor.ident in self.inputs:
            return Node(None, NONE, ())
        made = self.call.world.get((MADE, tensor.ident))
        layer, structure = made.items if isinstance(made, Tup) and made.items else (None, NONE)
        given = tuple((parts(self.call, structure) or {}).values())
        self.known = self.known and layer is not None and bool(given)
        return Node(layer, structure, given)

    def in_order(self) -> list[Value]:
        """The layers: those that are farther from the outputs first, each as it was met."""
        depths = dict.fromkeys(self.met, 0)
        deepest: dict[Value | int, int] = {}
        for ident in reversed(self.before):
            key = self._key(ident)
            depths[ident] = deepest[key] = max(depths[ident], deepest.get(key, 0))
            for source in self.sources[ident]:
                depths[source] = max(depths[source], depths[ident] + 1)
        first = {key: place for place, key in reversed(list(enumerate(map(self._key, self.met))))}
        keys = sorted(first, key=lambda key: (-deepest[key], first[key]))
        return [self._input_layer(key) if isinstance(key, int) else key for key in keys]

    def _input_layer(self, ident: int) -> Value:
        return self.call.world.allocate(InstanceRecord(Lib(INPUT_LAYER), {MADE: self.inputs[ident]}))

    def _key(self, ident: int) -> Value | int:
        layer = self.met[ident].layer
        return ident if layer is None else layer


def graph_of(call: Call, attrs: dict[str, Value]) -> _Graph:
    """The graph of a model that was made of inputs and outputs."""
    ends = [parts(call, attrs.get(each, NONE)) or {} for each in (INPUTS, OUTPUTS)]
    return _Graph(call, *(end.values() for end in ends))


@op(f"{MODEL}.get_layer")
def get_layer(call: Call, self: Value, name: Value = NONE, index: Value = NONE) -> Value:
    """https://keras.io/api/models/model: the layer of a name that the program gave it, or of a number"""
    attrs, label = call.attrs(self) or {}, call.const(name, str)
    if NETWORK in attrs:
        return _within(call, attrs, label)
    row, number = in_order(call, self), call.const(index, int)
    if row is not None and isinstance(number, int):
        return row[number] if -len(row) <= number < len(row) else call.unknown()
    reached = row if ITEMS in attrs else [node.layer for node in graph_of(call, attrs).met.values()]
    named = {each for each in reached or () if each is not None and _label(call, each) == label}
    return named.pop() if isinstance(label, str) and len(named) == 1 else call.unknown()


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
    row = in_order(call, self)
    return call.unknown() if row is None else call.list_of(row)


def in_order(call: Call, model: Value) -> list[Value] | None:
    """The layers of a model: those of a row without the one that only says what the input is, those of a graph, those that an
    object of the program holds. None where they are not all known."""
    record = call.world.record(model) if isinstance(model, Ref) else None
    attrs = record.attrs if isinstance(record, InstanceRecord) else {}
    if ITEMS in attrs:
        items = call.items(attrs[ITEMS])
        own = None if items is None else [each for each in items if not isinstance(each, Tensor)]
        return None if own is None else [each for each in own if not _is_input(call, each)]
    if OUTPUTS in attrs:
        graph = graph_of(call, attrs)
        return graph.in_order() if graph.known and graph.met else None
    return None if not isinstance(record, InstanceRecord) or NETWORK in attrs else held_layers(call, record)


def held_layers(call: Call, record: InstanceRecord) -> list[Value] | None:
    """The layers in the attributes of an object of the program, and in its lists and dicts; None where there may be others."""
    classes = call.world.library_classes(record)
    if classes is None or LAYER not in classes or not record.exact or record.sometimes:
        return None
    waiting = [value for name, value in reversed(record.attrs.items()) if not name.startswith("__")]
    found: dict[Value, None] = {}
    while waiting:
        value = waiting.pop()
        inner = _held(call, value)
        if inner is None or len(found) > MAX_GRAPH:
            return None
        found |= dict.fromkeys(each for each in inner if each == value)
        waiting += [each for each in reversed(inner) if each != value]
    return list(found)


def _held(call: Call, value: Value) -> tuple[Value, ...] | None:
    """A layer itself, the items of a list, a tuple or a dict, nothing of what holds no layers; None where that is not known."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(record, InstanceRecord):
        classes = call.world.library_classes(record)
        if classes is not None and LAYER in classes:
            return (value,)
        # A metric counts as a layer in some versions of Keras.
        return None if classes is None or any(name.startswith("keras.") for name in classes) else ()
    if isinstance(record, ListRecord):
        return record.items
    if isinstance(record, DictRecord):
        return tuple(record.items.values()) if record.exact else None
    if isinstance(value, Tup):
        return value.items
    return None if isinstance(value, Opaque | Union | Many) or record is not None else ()


def _is_input(call: Call, layer: Value) -> bool:
    record = call.world.record(layer) if isinstance(layer, Ref) else None
    return isinstance(record, InstanceRecord) and record.cls == Lib(INPUT_LAYER)
