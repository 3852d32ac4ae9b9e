"""keras: the weights of layers, by the names that layers have for them.

Sizes are those of the layer and of the first input, which builds it: https://keras.io/api/layers, and the page of each layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import FEATURES
from distml.ops.registry import MANY, attribute
from distml.values import NONE, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call
    from distml.shapes import Dim

Attrs = dict[str, Value]


def _weight(name: str, sizes: Callable[[Call, Attrs], list[Dim | None]], *layers: str) -> None:
    """The attribute `name` of some layers: a weight of these sizes; unknown where one object stands for several layers."""

    def rule(call: Call, self: Value) -> Value:
        attrs = call.attrs(self)
        if attrs is None or MANY in attrs:
            return call.unknown()
        made = call.tensor(sizes(call, attrs), "float", "tensorflow")
        return Tensor(made.lib, made.shape, made.dtype, parameter=True)

    rule.__doc__ = f"https://keras.io/api/layers: `{name}`"
    attribute(*(f"keras.layers.{each}.{name}" for each in layers))(rule)


def _dims(call: Call, attrs: Attrs, *names: str) -> list[Dim | None]:
    return [call.dim(attrs.get(name, NONE)) for name in names]


def _window(call: Call, attrs: Attrs, count: int) -> list[Dim | None]:
    return list(call.per_axis(attrs.get("kernel_size", NONE), count) or [None] * count)


def _kernel(count: int) -> Callable[[Call, Attrs], list[Dim | None]]:
    def sizes(call: Call, attrs: Attrs) -> list[Dim | None]:
        (features,), groups = _dims(call, attrs, FEATURES), call.dim(attrs.get("groups", NONE))
        each = features if groups is not None and groups.constant == 1 else None
        return [*_window(call, attrs, count), each, *_dims(call, attrs, "filters")]

    return sizes


def _transposed_kernel(count: int) -> Callable[[Call, Attrs], list[Dim | None]]:
    return lambda call, attrs: [*_window(call, attrs, count), *_dims(call, attrs, "filters", FEATURES)]


def _gates(gates: int, source: str) -> Callable[[Call, Attrs], list[Dim | None]]:
    def sizes(call: Call, attrs: Attrs) -> list[Dim | None]:
        rows, units = _dims(call, attrs, source, "units")
        return [rows, None if units is None else units * gates]

    return sizes


_weight("kernel", lambda call, attrs: _dims(call, attrs, FEATURES, "units"), "Dense")
_weight("embeddings", lambda call, attrs: _dims(call, attrs, "input_dim", "output_dim"), "Embedding")
for _count in (1, 2, 3):
    _weight("kernel", _kernel(_count), f"Conv{_count}D", f"Convolution{_count}D")
    _weight("kernel", _transposed_kernel(_count), f"Conv{_count}DTranspose")
for _name, _number in (("LSTMCell", 4), ("GRUCell", 3), ("SimpleRNNCell", 1)):
    _weight("kernel", _gates(_number, FEATURES), _name)
    _weight("recurrent_kernel", _gates(_number, "units"), _name)
