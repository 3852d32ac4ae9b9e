"""keras: the weights of layers, in their order, by the names that layers have for them.

Sizes are those of the layer and of the first input, which builds it: https://keras.io/api/layers, and the page of each layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.names import FEATURES, GIVEN
from distml.ops.bindings.weights import Attrs, Sizes, Weight, dims, shown
from distml.shapes import Dim
from distml.values import NONE, Const, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call


def _features(call: Call, attrs: Attrs) -> Sizes | None:
    """One number for each feature of the one axis that is normalized."""
    axes = call.items(attrs.get("axis", NONE))
    return dims(FEATURES)(call, attrs) if axes is None or len(axes) == 1 else None


def _size(call: Call, attrs: Attrs, name: str, default: int) -> Dim | None:
    return call.dim(attrs.get(name, Const(default)))


def _times(*dims: Dim | None) -> Dim | None:
    product = Dim.of(1)
    for dim in dims:
        if dim is None:
            return None
        product = product * dim
    return product


def _window(call: Call, attrs: Attrs, count: int) -> Sizes:
    return list(call.per_axis(attrs.get("kernel_size", NONE), count) or [None] * count)


def _kernel(count: int) -> Callable[[Call, Attrs], Sizes]:
    def sizes(call: Call, attrs: Attrs) -> Sizes:
        features, filters = dims(FEATURES, "filters")(call, attrs)
        groups = _size(call, attrs, "groups", 1)
        each = None if features is None or groups is None else features // groups
        return [*_window(call, attrs, count), each, filters]

    return sizes


def _transposed_kernel(count: int) -> Callable[[Call, Attrs], Sizes]:
    return lambda call, attrs: [*_window(call, attrs, count), *dims("filters", FEATURES)(call, attrs)]


def _spread(call: Call, attrs: Attrs) -> Dim | None:
    """The channels of all features, so many of each."""
    return _times(*dims(FEATURES)(call, attrs), _size(call, attrs, "depth_multiplier", 1))


def _depthwise(count: int) -> Callable[[Call, Attrs], Sizes]:
    def sizes(call: Call, attrs: Attrs) -> Sizes:
        each = _size(call, attrs, "depth_multiplier", 1)
        return [*_window(call, attrs, count), *dims(FEATURES)(call, attrs), each]

    return sizes


def _pointwise(count: int) -> Callable[[Call, Attrs], Sizes]:
    one: Sizes = [Dim.of(1)] * count
    return lambda call, attrs: [*one, _spread(call, attrs), *dims("filters")(call, attrs)]


def _gates(gates: int, source: str) -> Callable[[Call, Attrs], Sizes]:
    def sizes(call: Call, attrs: Attrs) -> Sizes:
        rows, units = dims(source, "units")(call, attrs)
        return [rows, _times(units, Dim.of(gates))]

    return sizes


def _gate_biases(gates: int) -> Callable[[Call, Attrs], Sizes]:
    def sizes(call: Call, attrs: Attrs) -> Sizes:
        """GRU has two rows where it resets after the product."""
        each = _times(*dims("units")(call, attrs), Dim.of(gates))
        rows: Sizes = [Dim.of(2)] if call.flag(attrs.get("reset_after", NONE)) and gates == _GRU else []
        return [*rows, each]

    return sizes


_GRU = 3
_FILTER_BIAS = Weight("bias", dims("filters"), "use_bias")
_NORMAL = (Weight("gamma", _features, "scale"), Weight("beta", _features, "center"))
_MOVING = tuple(Weight(name, _features, trained=False) for name in ("moving_mean", "moving_variance"))
WEIGHTS: dict[str, tuple[Weight, ...]] = {
    "Dense": (Weight("kernel", dims(FEATURES, "units")), Weight("bias", dims("units"), "use_bias")),
    "Embedding": (Weight("embeddings", dims("input_dim", "output_dim")),),
    "BatchNormalization": (*_NORMAL, *_MOVING),
    "LayerNormalization": _NORMAL,
    "GroupNormalization": _NORMAL,
}
"""Layers and their weights, in the order of `layer.weights`."""
for _count in (1, 2, 3):
    WEIGHTS[f"Conv{_count}D"] = (Weight("kernel", _kernel(_count)), _FILTER_BIAS)
    WEIGHTS[f"Conv{_count}DTranspose"] = (Weight("kernel", _transposed_kernel(_count)), _FILTER_BIAS)
for _count in (1, 2):
    _deep, _point = Weight("depthwise_kernel", _depthwise(_count)), Weight("pointwise_kernel", _pointwise(_count))
    _bias = Weight("bias", lambda call, attrs: [_spread(call, attrs)], "use_bias")
    WEIGHTS[f"DepthwiseConv{_count}D"] = (_deep, _bias)
    WEIGHTS[f"SeparableConv{_count}D"] = (_deep, _point, _FILTER_BIAS)
for _name, _number in (("LSTM", 4), ("GRU", _GRU), ("SimpleRNN", 1)):
    _gated = (
        Weight("kernel", _gates(_number, FEATURES)),
        Weight("recurrent_kernel", _gates(_number, "units")),
        Weight("bias", _gate_biases(_number), "use_bias"),
    )
    WEIGHTS |= {_name: _gated, f"{_name}Cell": _gated}
_ELSEWHERE = frozenset({"LSTM", "GRU", "SimpleRNN"})
"""Layers whose weights are attributes of their cell."""
_BY_VERSION = {("DepthwiseConv1D", "depthwise_kernel"), ("DepthwiseConv2D", "depthwise_kernel")}
"""Weights that versions of Keras call otherwise."""


def of_layer(call: Call, kind: str, attrs: Attrs) -> list[tuple[Tensor, bool]] | None:
    """The weights of a layer that is built, and which of them training changes; None where that is not known."""
    found = []
    for weight in WEIGHTS[kind]:
        given = weight.given(call, attrs)
        made = weight.made(call, attrs, "tensorflow") if given else None
        if given is None or (given and made is None):
            return None
        found += [(made, weight.trained)] if made is not None else []
    return found


def require_weights(call: Call, own: list[Tensor], given: tuple[Value, ...]) -> None:
    """As many arrays as there are weights, each of the shape of its weight (SHP305)."""
    if len(given) != len(own):
        call.fail("SHP305", f"{call.text}: {len(own)} weights are there, {len(given)} are given")
    for place, (weight, array) in enumerate(zip(own, given, strict=True)):
        wanted, gets = call.facts.shape(call.shape(weight)), call.facts.shape(call.shape(array))
        if wanted.dims is not None and gets.dims is not None and not wanted.may_equal(gets):
            text = f"{call.text}: weight {place} has the shape {wanted!r}, {gets!r} is given"
            call.fail("SHP305", text, *call.notes(*wanted.dims, *gets.dims))


def begin_with(call: Call, kind: str, attrs: Attrs) -> None:
    """`weights=[...]`: what a layer is made with is put in once it is built."""
    own, given = of_layer(call, kind, attrs) if kind in WEIGHTS else None, call.items(attrs[GIVEN])
    if own is not None and given is not None:
        require_weights(call, [tensor for tensor, _ in own], given)


for _kind, _weights in WEIGHTS.items():
    for _weight in _weights:
        if _kind not in _ELSEWHERE and (_kind, _weight.name) not in _BY_VERSION:
            shown(_weight, "tensorflow", "https://keras.io/api/layers", f"keras.layers.{_kind}")
