"""keras: layers that merge several inputs.

https://keras.io/api/layers/merging_layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import define
from distml.ops.registry import op
from distml.ops.rules import join
from distml.ops.rules.axes import append_axis
from distml.shapes import Dim, Shape
from distml.values import Lib, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

Attrs = dict[str, Value]
_ELEMENTWISE = ("Add", "Multiply", "Average", "Maximum", "Minimum")


def _shapes(call: Call, inputs: Value) -> list[Shape] | None:
    items = call.items(inputs)
    return None if items is None else [call.shape(item) for item in items]


def _merged(call: Call, inputs: Value) -> Value:
    shapes = _shapes(call, inputs)
    if not shapes or any(shape.rank != shapes[0].rank for shape in shapes):
        # A lower rank is aligned at the batch by some backends and refused by others.
        return call.unranked("float")
    return call.tensor(call.broadcast(*shapes, message=call.text), "float")


def _elementwise(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """Inputs of one shape, or that broadcast behind the batch."""
    return _merged(call, inputs)


def _none(call: Call, *values: Value) -> Attrs:
    return {}


def _subtract(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """Two inputs."""
    return _merged(call, inputs)


for _name in _ELEMENTWISE:
    define("", _none, _elementwise, _name)
define("", _none, _subtract, "Subtract")


def _joined(call: Call, inputs: Value, axis: Value) -> Value:
    shapes = _shapes(call, inputs)
    if not shapes:
        return call.unranked()
    return call.tensor(join.concatenate(call, shapes, axis), None)


define(
    "axis=-1",
    lambda call, axis: {"axis": axis},
    lambda call, attrs, inputs, *args, **kwargs: _joined(call, inputs, attrs["axis"]),
    "Concatenate",
)


def _dotted(call: Call, inputs: Value, axes: Value) -> Value:
    shapes, pair = _shapes(call, inputs), call.items(axes)
    if shapes is None or len(shapes) != 2 or any(shape.dims is None for shape in shapes):
        return call.unranked("float")
    left, right = (shape.dims or () for shape in shapes)
    if pair is not None and len(pair) != 2:
        return call.unranked("float")
    places = [call.axis(axis, len(dims)) for axis, dims in zip(pair or (axes, axes), (left, right), strict=True)]
    if None in places or 0 in places:
        return call.unranked("float")
    first, second = (place or 0 for place in places)
    text = f"{call.text}: axis {first} of {shapes[0]!r} has {{left}}, axis {second} of {shapes[1]!r} has {{right}}"
    call.require_equal(left[first], right[second], "SHP101", text)
    rest = [dim for i, dim in enumerate(left) if i != first] + [
        dim for i, dim in enumerate(right) if i not in (0, second)
    ]
    made = Shape(tuple(rest))
    return call.tensor(made if len(rest) > 1 else append_axis(call, made, Dim.of(1)), "float")


define(
    "axes -normalize=False",
    lambda call, axes: {"axes": axes},
    lambda call, attrs, inputs, *args, **kwargs: _dotted(call, inputs, attrs["axes"]),
    "Dot",
)


def _function(name: str, layer: str) -> None:
    def rule(call: Call, inputs: Value, *args: Value, **options: Value) -> Value:
        return call.apply(call.apply(Lib(f"keras.layers.{layer}"), *args, kwargs=options), inputs)

    rule.__doc__ = f"https://keras.io/api/layers/merging_layers: a layer {layer}, called"
    op(f"keras.layers.{name}")(rule)


for _name in (*_ELEMENTWISE, "Subtract", "Concatenate", "Dot"):
    _function(_name.lower(), _name)
