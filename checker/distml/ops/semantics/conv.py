"""Convolution and transposed convolution over any number of axes, in any layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.rules.layers import known_shape
from distml.ops.rules.ranks import Dims, each_rank
from distml.ops.semantics.window import Axes, Layout, Window, slid, spread
from distml.shapes import Dim, Shape
from distml.solver.formula import at_least
from distml.values import NONE, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call


class Kernel(NamedTuple):
    """The weights of a convolution, in whatever order a library keeps them.

    `needs` are the input channels it is made for, `gives` its output channels; `groups` divides both.
    """

    needs: Dim | None
    gives: Dim | None
    groups: Dim | None = Dim.of(1)


def convolve(
    call: Call, input: Shape, kernel: Kernel, read: tuple[Window, ...], layout: Layout, ranks: Sequence[int]
) -> Value:
    """The image with `kernel.gives` channels, each spatial axis as long as its window has places."""
    call.of_rank(input, *sorted(ranks), what="an input")
    require_channels(call, input, layout, kernel.needs)
    text = f"{call.text}: {{dim}} output channels are not divisible by groups={{by}}"
    call.require_divisible(kernel.gives, kernel.groups, "SHP404", text)

    def rule(dims: Dims) -> Value:
        return call.tensor(layout.image(dims, kernel.gives, slid(call, layout, dims, read)))

    return each_rank(call, input, ranks, rule)


def require_channels(call: Call, input: Shape, layout: Layout, needs: Dim | None) -> None:
    """The channel axis has the size that is needed (SHP402)."""
    gets = call.facts.axis(input, layout.channels)
    input = call.facts.shape(input)
    call.require_equal(
        needs,
        gets,
        "SHP402",
        f"{call.text} needs {{left}} input channels, gets {{right}} (input {call.show(input)})",
        hint=_hint(input, layout, needs, gets),
    )


def _hint(input: Shape, layout: Layout, needs: Dim | None, gets: Dim | None) -> str | None:
    dims = input.dims
    if needs is None or gets is None or dims is None or not needs.differs(gets):
        return None
    if layout.channels_last:
        first = len(dims) == layout.axes + 2 and dims[-layout.axes - 1] == needs
        return "channels come last: move axis 1 there with transpose" if first else None
    if dims[-1] == needs:
        return "channels come before the spatial axes: move the last axis there with permute"
    if len(dims) == layout.axes + 1 and dims[0] != needs and needs == 1:
        return "is an axis for the channels missing? unsqueeze(1) adds one"
    return None


def require_bias(call: Call, bias: Value, channels: Dim | None) -> None:
    """The bias is a vector with one number for each output channel (SHP402)."""
    shape = known_shape(call, bias)
    if shape is None or channels is None:
        return
    shape = call.of_rank(shape, 1, what="a bias")
    message = f"{call.text}: the bias has {{right}} channels, the weight gives {{left}}"
    call.require_equal(channels, call.facts.axis(shape, 0), "SHP402", message)


def transpose(
    call: Call,
    input: Shape,
    kernel: Kernel,
    read: tuple[Window, ...],
    layout: Layout,
    ranks: Sequence[int],
    extra: Axes = (),
    output_size: Value = NONE,
) -> Value:
    """The image whose convolution has the shape of the input.

    `extra` is what is added to the smallest such sizes, `output_size` the size that is asked for instead.
    """
    call.of_rank(input, *sorted(ranks), what="an input")
    require_channels(call, input, layout, kernel.needs)
    text = f"{call.text}: {{dim}} input channels are not divisible by groups={{by}}"
    call.require_divisible(kernel.needs, kernel.groups, "SHP404", text)
    extras = extra or (Dim.of(0),) * layout.axes

    def rule(dims: Dims) -> Value:
        smallest = [spread(call, size, window) for size, window in zip(layout.spatial(dims), read, strict=True)]
        out = _sized(call, smallest, read, extras, output_size, len(dims))
        _require_positive(call, out, dims)
        return call.tensor(layout.image(dims, kernel.gives, out))

    return each_rank(call, input, ranks, rule)


def _sized(
    call: Call, smallest: list[Dim | None], read: tuple[Window, ...], extras: Axes, output_size: Value, rank: int
) -> list[Dim | None]:
    """The sizes asked for, or the smallest ones and the output padding."""
    asked = call.is_none(output_size)
    if asked:
        return [None if s is None or e is None else s + e for s, e in zip(smallest, extras, strict=True)]
    count = len(smallest)
    sizes = call.sizes(output_size) if asked is False else None
    if sizes is None:
        return [None] * count
    if len(sizes) not in (count, rank):
        call.fail("SHP301", f"{call.text}: output_size needs {count} or {rank} sizes, gets {len(sizes)}")
    sizes = sizes[-count:]
    for size, least, window in zip(sizes, smallest, read, strict=True):
        step = window.stride
        if size is None or least is None or step is None:
            continue
        short, long = (least - size).low, (size - least - step + 1).low
        if (short is not None and short > 0) or (long is not None and long > 0):
            call.fail(
                "SHP403",
                f"{call.text}: output_size {size} is not possible, the input allows {least} to {least + step - 1}",
                *call.notes(size),
            )
    return list(sizes)


def _require_positive(call: Call, out: list[Dim | None], dims: Dims) -> None:
    for size in out:
        if size is None:
            continue
        text = f"{call.text}: the output would have the size {size} (input {Shape(dims)!r})"
        call.state(at_least(size, 1), "SHP403", text)
        high = (-size).low
        if high is not None and high >= 0:
            call.fail("SHP403", text, *call.notes(*dims))
