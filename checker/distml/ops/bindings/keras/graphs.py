"""keras: the layers of a model, and what each made of its input.

https://keras.io/api/models/model
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.models import ITEMS, MODEL, OUTPUTS, SEQUENTIAL, parts
from distml.ops.call import NONE
from distml.ops.registry import MADE, attribute, op
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
        made = call.world.get((MADE, waiting.pop().ident))
        if isinstance(made, Tup) and made.items and made.items[0] not in found:
            found.append(made.items[0])
            waiting += (parts(call, made.items[1]) or {}).values()
    return found


@op(f"{MODEL}.get_layer")
def get_layer(call: Call, self: Value, name: Value = NONE, index: Value = NONE) -> Value:
    """https://keras.io/api/models/model: the layer of a name that the program gave it"""
    label = call.const(name, str)
    named = [each for each in _graph(call, call.attrs(self) or {}) if _label(call, each) == label]
    return named[0] if isinstance(label, str) and len(named) == 1 else call.unknown()


def _label(call: Call, layer: Value) -> object:
    own = (call.attrs(layer) or {}).get("__name__")
    return own.value if isinstance(own, Const) else None


@attribute(f"{SEQUENTIAL}.layers")
def layers_in_a_row(call: Call, self: Value) -> Value:
    """https://keras.io/api/models/model: the layers without the one that only says what the input is"""
    items = call.items((call.attrs(self) or {}).get(ITEMS, NONE))
    if items is None:
        return call.unknown()
    return call.list_of([each for each in items if not isinstance(each, Tensor) and not _is_input(call, each)])


def _is_input(call: Call, layer: Value) -> bool:
    record = call.world.record(layer) if isinstance(layer, Ref) else None
    return isinstance(record, InstanceRecord) and record.cls == Lib("keras.layers.InputLayer")
