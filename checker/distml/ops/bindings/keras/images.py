"""keras: convolution, pooling, resampling and padding of images, sequences and volumes.

https://keras.io/api/layers/convolution_layers, https://keras.io/api/layers/pooling_layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import define, of_least_rank, require_features, unbuilt
from distml.ops.bindings.keras.names import FEATURES
from distml.ops.bindings.tensorflow.nn import layout_of, ranks_of
from distml.ops.rules.layers import attribute_of, per_axis, size
from distml.ops.rules.ranks import Dims, each_rank
from distml.ops.semantics.conv import Kernel, convolve, transpose
from distml.ops.semantics.pool import pool
from distml.ops.semantics.window import Axes, Layout, Padding, Window, windows
from distml.shapes import Dim, Shape
from distml.values import Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

Attrs = dict[str, Value]


_PADDINGS: dict[str, Padding] = {"same": "same", "valid": "valid", "causal": "causal"}


def _layout(call: Call, attrs: Attrs, count: int) -> Layout | None:
    """Channels behind the spatial axes, unless "channels_first" is asked for."""
    given = attrs["data_format"]
    if call.is_none(given):
        return Layout(count, channels_last=True)
    word = call.const(given, str)
    return Layout(count, word == "channels_last") if word in ("channels_last", "channels_first") else None


def _words(call: Call, padding: Value, count: int) -> tuple[Padding, ...]:
    word = call.const(padding, str)
    one = _PADDINGS.get(word.lower()) if isinstance(word, str) else None
    return (one,) * count


def _windows(call: Call, attrs: Attrs, count: int, kernel: str, stride: str) -> tuple[Window, ...]:
    sizes = per_axis(call, attrs[kernel], count)
    steps = sizes if call.is_none(attrs[stride]) else per_axis(call, attrs[stride], count)
    dilation: Axes = (Dim.of(1),) * count
    if "dilation_rate" in attrs:
        dilation = per_axis(call, attrs["dilation_rate"], count)
    return windows(sizes, steps, _words(call, attrs["padding"], count), dilation)


def _filters(call: Call, filters: Value) -> Value:
    return attribute_of(call, filters, size(call, filters, "filters", 1))


_PARAMETERS = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "groups")


def _make_conv(call: Call, *values: Value) -> Attrs:
    attrs = dict(zip(_PARAMETERS, values, strict=False))
    groups = call.dim(attrs["groups"]) if "groups" in attrs else None
    text = f"{call.text}: filters={{dim}} is not divisible by groups={{by}}"
    call.require_divisible(call.dim(attrs["filters"]), groups, "SHP404", text)
    return {**attrs, "filters": _filters(call, attrs["filters"]), FEATURES: unbuilt(call)}


def _channels(call: Call, attrs: Attrs, shape: Shape, layout: Layout) -> Dim | None:
    """The channels of the input, for which the first one built the kernel."""
    shape = of_least_rank(call, shape, layout.axes + 2)
    return require_features(call, attrs, shape, layout.channels, "SHP402", "channels")


def _conv(count: int) -> Callable[..., Value]:
    def run(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        shape, layout = call.shape(inputs), _layout(call, attrs, count)
        if layout is None:
            return call.unranked("float")
        channels, groups = _channels(call, attrs, shape, layout), call.dim(attrs["groups"])
        text = f"{call.text}: {{dim}} input channels are not divisible by groups={{by}}"
        call.require_divisible(channels, groups, "SHP404", text)
        read = _windows(call, attrs, count, "kernel_size", "strides")
        return convolve(
            call, shape, Kernel(None, call.dim(attrs["filters"])), read, layout, ranks_of(call, shape, layout)
        )

    return run


def _transposed(count: int) -> Callable[..., Value]:
    def run(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        layout, shape = _layout(call, attrs, count), call.shape(inputs)
        if layout is None:
            return call.unranked("float")
        call.of_rank(shape, count + 2, what="an input")
        _channels(call, attrs, shape, layout)
        read = _windows(call, attrs, count, "kernel_size", "strides")
        dilated = any(window.dilation != Dim.of(1) for window in read)
        if call.is_none(attrs["output_padding"]) is not True or (dilated and count == 3):
            # What it means depends on the padding, and the dilation of volumes is left out by Keras 2.
            read = tuple(window._replace(kernel=None, padding=None) for window in read)
        return transpose(call, shape, Kernel(None, call.dim(attrs["filters"])), read, layout, (count + 2,))

    return run


def _make_transposed(call: Call, *values: Value) -> Attrs:
    names = ("filters", "kernel_size", "strides", "padding", "output_padding", "data_format", "dilation_rate")
    attrs = dict(zip(names, values, strict=False))
    return {**attrs, "filters": _filters(call, attrs["filters"]), FEATURES: unbuilt(call)}


def _make_depthwise(call: Call, *values: Value) -> Attrs:
    names = ("kernel_size", "strides", "padding", "depth_multiplier", "data_format", "dilation_rate")
    return {**dict(zip(names, values, strict=False)), FEATURES: unbuilt(call)}


def _depthwise(count: int) -> Callable[..., Value]:
    def run(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        layout, shape = _layout(call, attrs, count), call.shape(inputs)
        if layout is None:
            return call.unranked("float")
        channels, each = _channels(call, attrs, shape, layout), call.dim(attrs["depth_multiplier"])
        given = None if channels is None or each is None else channels * each
        read = _windows(call, attrs, count, "kernel_size", "strides")
        return convolve(call, shape, Kernel(None, given), read, layout, ranks_of(call, shape, layout))

    return run


def _make_pool(call: Call, *values: Value) -> Attrs:
    return dict(zip(("pool_size", "strides", "padding", "data_format"), values, strict=False))


def _pool(count: int) -> Callable[..., Value]:
    def run(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        layout = _layout(call, attrs, count)
        call.of_rank(call.shape(inputs), count + 2, what="an input")
        if layout is None:
            return call.unranked(call.dtype(inputs))
        return pool(call, inputs, _windows(call, attrs, count, "pool_size", "strides"), layout, (count + 2,))

    return run


def pooled(call: Call, x: Value, *given: Value) -> Value:
    """keras.ops.max_pool: over as many spatial axes as the input has."""
    rank = call.shape(x).rank
    if rank not in (3, 4, 5):
        return call.unranked(call.dtype(x))
    return _pool(rank - 2)(call, _make_pool(call, *given), x)


def convolved(
    call: Call, x: Value, kernel: Value, strides: Value, padding: Value, data_format: Value, dilation: Value
) -> Value:
    """keras.ops.conv: a kernel [..., channels, filters]; fewer channels than the image has are those of one group."""
    shape, weight = call.shape(x), call.facts.shape(call.shape(kernel))
    rank = weight.rank if shape.rank is None else shape.rank
    if rank not in (3, 4, 5):
        return call.unranked("float")
    weight, count = call.of_rank(weight, rank, what="a kernel"), rank - 2
    attrs = {"strides": strides, "padding": padding, "data_format": data_format, "dilation_rate": dilation}
    layout = _layout(call, attrs, count)
    if layout is None or weight.dims is None:
        return call.unranked("float")
    *sizes, taken, gives = weight.dims
    channels = call.facts.axis(shape, layout.channels)
    grouped = channels is not None and channels.differs(taken) and not (channels % taken).terms
    read = _windows(call, {**attrs, "kernel": Tup(tuple(map(call.number, sizes)))}, count, "kernel", "strides")
    return convolve(call, shape, Kernel(None if grouped else taken, gives), read, layout, (rank,))


def _make_global(call: Call, *values: Value) -> Attrs:
    return dict(zip(("data_format", "keepdims"), values, strict=False))


def _global(count: int) -> Callable[..., Value]:
    def run(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        layout, keep = _layout(call, attrs, count), call.flag(attrs["keepdims"])
        shape = call.of_rank(call.shape(inputs), count + 2, what="an input")
        if layout is None or keep is None or shape.dims is None:
            return call.unranked(call.dtype(inputs))
        batch, channels = shape.dims[0], shape.dims[layout.channels]
        ones: list[Dim | None] = [Dim.of(1)] * count
        made = layout.image(shape.dims, channels, ones) if keep else [batch, channels]
        return call.tensor(made, call.dtype(inputs))

    return run


def _spatial(count: int, change: Callable[[Call, Attrs, list[Dim]], list[Dim | None]]) -> Callable[..., Value]:
    """A layer that changes the spatial sizes one by one."""

    def run(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        layout, shape = _layout(call, attrs, count), call.shape(inputs)

        def rule(dims: Dims) -> Value:
            if layout is None:
                return call.unranked(call.dtype(inputs))
            sizes = change(call, attrs, list(layout.spatial(dims)))
            return call.tensor(layout.image(dims, dims[layout.channels], sizes), call.dtype(inputs))

        return each_rank(call, shape, (count + 2,), rule)

    return run


def _grown(count: int) -> Callable[[Call, Attrs, list[Dim]], list[Dim | None]]:
    def change(call: Call, attrs: Attrs, sizes: list[Dim]) -> list[Dim | None]:
        factors = per_axis(call, attrs["size"], count)
        return [None if factor is None else dim * factor for dim, factor in zip(sizes, factors, strict=True)]

    return change


def _edges(call: Call, value: Value, count: int) -> list[Dim | None]:
    """What both sides of each axis get together: one number, one an axis, or a pair an axis."""
    items = call.items(value)
    if items is None or (count == 1 and len(items) == 2 and call.items(items[0]) is None):
        one = [call.dim(item) for item in items] if items is not None else [call.dim(value)] * 2
        return [one[0] + one[1] if one[0] is not None and one[1] is not None else None] * count
    if len(items) != count:
        return [None] * count
    found: list[Dim | None] = []
    for item in items:
        pair = call.items(item)
        both = [call.dim(side) for side in pair] if pair is not None and len(pair) == 2 else [call.dim(item)] * 2
        found.append(both[0] + both[1] if both[0] is not None and both[1] is not None else None)
    return found


def _padded(count: int, sign: int) -> Callable[[Call, Attrs, list[Dim]], list[Dim | None]]:
    def change(call: Call, attrs: Attrs, sizes: list[Dim]) -> list[Dim | None]:
        name = "padding" if sign > 0 else "cropping"
        made: list[Dim | None] = []
        for dim, edge in zip(sizes, _edges(call, attrs[name], count), strict=True):
            new = None if edge is None else dim + edge * sign
            if new is not None and (high := (-new).low) is not None and high >= 0:
                text = f"{call.text}: cropping {edge} of an axis of {dim} leaves nothing"
                call.fail("SHP403", text, *call.notes(dim))
            made.append(new)
        return made

    return change


def _named(*names: str) -> Callable[..., Attrs]:
    return lambda call, *values: dict(zip(names, values, strict=True))


_REST = "-activation=None +use_bias=True"
for _count in (1, 2, 3):
    _one = 1 if _count == 1 else (1,) * _count
    _two = 2 if _count == 1 else (2,) * _count
    _text, _pair = str(_one).replace(" ", ""), str(_two).replace(" ", "")
    define(
        f"filters kernel_size strides={_text} padding='valid' data_format=None dilation_rate={_text} groups=1 {_REST}",
        _make_conv,
        _conv(_count),
        f"Conv{_count}D",
    )
    define(
        f"filters kernel_size strides={_text} padding='valid' output_padding=None data_format=None dilation_rate={_text} {_REST}",
        _make_transposed,
        _transposed(_count),
        f"Conv{_count}DTranspose",
    )
    for _kind in ("Max", "Average"):
        define(
            f"pool_size={_pair} strides=None padding='valid' data_format=None",
            _make_pool,
            _pool(_count),
            f"{_kind}Pooling{_count}D",
        )
        define(
            "data_format=None keepdims=False",
            _make_global,
            _global(_count),
            f"Global{_kind}Pooling{_count}D",
        )
    for _name, _sign, _default in (("ZeroPadding", 1, "padding"), ("Cropping", -1, "cropping")):
        _start = "1" if _count > 1 or _sign > 0 else "(1,1)"
        _start = "((0,0),(0,0))" if _count == 2 and _sign < 0 else _start
        define(
            f"{_default}={_start} data_format=None",
            _named(_default, "data_format"),
            _spatial(_count, _padded(_count, _sign)),
            f"{_name}{_count}D",
        )
    define(
        f"size={_pair} data_format=None -interpolation='nearest'",
        _named("size", "data_format"),
        _spatial(_count, _grown(_count)),
        f"UpSampling{_count}D",
    )
for _count in (1, 2):
    _text = "1" if _count == 1 else "(1,1)"
    define(
        f"filters kernel_size strides={_text} padding='valid' data_format=None dilation_rate={_text} +depth_multiplier=1 {_REST}",
        lambda call, *values: {**_make_conv(call, *values), "groups": call.number(Dim.of(1))},
        _conv(_count),
        f"SeparableConv{_count}D",
    )
    define(
        f"kernel_size strides={_text} padding='valid' depth_multiplier=1 data_format=None dilation_rate={_text} {_REST}",
        _make_depthwise,
        _depthwise(_count),
        f"DepthwiseConv{_count}D",
    )


def _resize(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """Images of height and width."""
    shape, layout = call.of_rank(call.shape(inputs), 3, 4, what="images"), layout_of(call, attrs["data_format"], 2)
    if shape.dims is None or layout is None or len(shape.dims) < 3 or not layout.channels_last:
        return call.unranked("float")
    return call.tensor([*shape.dims[:-3], call.dim(attrs["height"]), call.dim(attrs["width"]), shape.dims[-1]], "float")


define(
    "height width -interpolation='bilinear' -crop_to_aspect_ratio=False -pad_to_aspect_ratio=False -fill_mode='constant'"
    " -fill_value=0.0 -antialias=False data_format=None",
    _named("height", "width", "data_format"),
    _resize,
    "Resizing",
)
define(
    "height width data_format=None -seed=None",
    _named("height", "width", "data_format"),
    _resize,
    "CenterCrop",
    "RandomCrop",
)
