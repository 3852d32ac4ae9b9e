"""Resampling: other spatial sizes, pixels moved between channels and space, grids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.layers import per_axis, size
from distml.ops.rules.ranks import Dims, each_rank
from distml.ops.semantics.pool import scaled
from distml.ops.semantics.window import Window, places
from distml.shapes import Dim, Shape
from distml.values import Const, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

MODE_RANKS = {
    "linear": (3,),
    "bilinear": (4,),
    "bicubic": (4,),
    "lanczos": (4,),
    "trilinear": (5,),
    "nearest": (3, 4, 5),
    "nearest-exact": (3, 4, 5),
    "area": (3, 4, 5),
}


def interpolate(call: Call, input: Value, sizes: Value, factor: Value, mode: object) -> Value:
    """torch.nn.functional.interpolate: a size given, or floor(size * factor)."""
    ranks = MODE_RANKS.get(mode, (3, 4, 5)) if isinstance(mode, str) else (3, 4, 5)
    given = _first_items(call, sizes, factor)
    shape = call.shape(input)
    if given is not None and given + 2 in ranks and shape.rank is None:
        ranks = (given + 2,)
    call.of_rank(shape, *ranks, what=f"for mode {mode!r} an input" if isinstance(mode, str) else "an input")

    def rule(dims: Dims) -> Value:
        out = _targets(call, dims[2:], sizes, factor)
        return call.tensor([*dims[:2], *out], call.dtype(input))

    return each_rank(call, shape, ranks, rule)


def _first_items(call: Call, sizes: Value, factor: Value) -> int | None:
    items = call.items(factor if call.is_none(sizes) else sizes)
    return None if items is None else len(items)


def _targets(call: Call, spatial: Dims, sizes: Value, factor: Value) -> list[Dim | None]:
    count, by_size = len(spatial), call.is_none(sizes)
    items = call.items(factor if by_size else sizes)
    if items is not None and len(items) != count:
        what = "factors" if by_size else "sizes"
        call.fail("SHP301", f"{call.text}: {len(items)} {what} for {count} spatial axes")
    if by_size is None:
        return [None] * count
    if not by_size:
        values = items if items is not None else (sizes,) * count
        known = items is not None or isinstance(sizes, Const) or call.per_axis(sizes, count) is not None
        return [call.dim(value) if known else None for value in values]
    numbers = items if items is not None else (factor,) * count
    return [_times(call, dim, number) for dim, number in zip(spatial, numbers, strict=True)]


def _times(call: Call, dim: Dim, factor: Value) -> Dim | None:
    number = call.const(factor, (int, float))
    if isinstance(number, int | float):
        return scaled(dim, number)
    whole = call.dim(factor) if not isinstance(factor, Const) and call.is_none(factor) is False else None
    return None if whole is None else dim * whole


def shuffle(call: Call, input: Value, factor: Value) -> Value:
    """torch.nn.functional.pixel_shuffle: (..., C * r * r, H, W) to (..., C, H * r, W * r)."""
    r = size(call, factor, "upscale_factor", 1)
    channels, height, width = _image(call, input)
    text = f"{call.text}: {{dim}} channels are not divisible by {{by}}, the square of the factor {r}"
    call.require_divisible(channels, r * r, "SHP404", text)
    return _replaced(call, input, (channels // (r * r), height * r, width * r))


def unshuffle(call: Call, input: Value, factor: Value) -> Value:
    """torch.nn.functional.pixel_unshuffle: (..., C, H * r, W * r) to (..., C * r * r, H, W)."""
    r = size(call, factor, "downscale_factor", 1)
    channels, height, width = _image(call, input)
    for name, dim in (("height", height), ("width", width)):
        text = f"{call.text}: the {name} {{dim}} is not divisible by the factor {{by}}"
        call.require_divisible(dim, r, "SHP404", text)
    return _replaced(call, input, (channels * (r * r), height // r, width // r))


def _image(call: Call, input: Value) -> Dims:
    found = call.facts.tail(call.shape(input), 3)
    if found is None:
        call.fail("SHP301", f"{call.text} needs an input with at least 3 axes, gets {call.show(input)}")
    return found


def _replaced(call: Call, input: Value, new: Dims) -> Value:
    shape = call.facts.shape(call.shape(input))
    dtype = call.dtype(input)
    if shape.dims is not None:
        return call.tensor([*shape.dims[:-3], *new], dtype)
    least = max(shape.least - 3, 0)
    inner = call.facts.unknown_shape("batch")
    return call.tensor(Shape(shape.head[:least], inner.middle, shape.tail[:-3] + new, shape.least), dtype)


def channel_shuffle(call: Call, input: Value, groups: Value) -> Value:
    """torch.nn.functional.channel_shuffle: axis 1 falls into equal groups."""
    count = size(call, groups, "groups", 1)
    shape = call.facts.at_least(call.shape(input), 3)
    if shape is None:
        call.fail("SHP301", f"{call.text} needs an input with at least 3 axes, gets {call.show(input)}")
    text = f"{call.text}: {{dim}} channels are not divisible by {{by}} groups"
    call.require_divisible(call.facts.axis(shape, 1), count, "SHP404", text)
    return call.tensor(call.facts.shape(shape), call.dtype(input))


def grid_sample(call: Call, input: Value, grid: Value) -> Value:
    """torch.nn.functional.grid_sample: (N, C, ...) at a grid (N, *out, 2 or 3)."""
    image = call.of_rank(call.shape(input), 4, 5, what="an input")
    points = call.of_rank(call.shape(grid), 4, 5, what="a grid")
    rank = image.rank or points.rank
    if rank is None:
        return call.unranked(call.dtype(input))
    image = call.of_rank(image, rank, what="an input like the grid")
    points = call.of_rank(points, rank, what="a grid like the input")
    assert image.dims is not None
    assert points.dims is not None
    text = f"{call.text}: the input {image!r} has a batch of {{left}}, the grid {points!r} one of {{right}}"
    call.require_equal(image.dims[0], points.dims[0], "SHP104", text)
    text = f"{call.text} needs {{left}} coordinates on the last axis of the grid, gets {{right}} (grid {points!r})"
    call.require_equal(Dim.of(rank - 2), points.dims[-1], "SHP401", text)
    return call.tensor([*image.dims[:2], *points.dims[1:-1]], call.dtype(input))


def affine_grid(call: Call, theta: Value, sizes: Value) -> Value:
    """torch.nn.functional.affine_grid: (N, 2, 3) or (N, 3, 4) and a size (N, C, ...)."""
    matrix = call.of_rank(call.shape(theta), 3, what="theta")
    wanted = call.sizes(sizes)
    if wanted is None or len(wanted) not in (4, 5):
        return call.unranked(call.dtype(theta))
    axes = Dim.of(len(wanted) - 2)
    for needs, gets in ((wanted[0], matrix.at(0)), (axes, matrix.at(1)), (axes + 1, matrix.at(2))):
        text = f"{call.text}: theta {matrix!r} does not fit the size asked for: {{right}}, not {{left}}"
        call.require_equal(needs, gets, "SHP104", text)
    return call.tensor([matrix.at(0), *wanted[2:], axes], call.dtype(theta))


def unfold(call: Call, input: Value, parameters: tuple[Value, Value, Value, Value]) -> Value:
    """torch.nn.functional.unfold: (N, C, H, W) to (N, C * window, places)."""
    kernel, dilation, padding, stride = (per_axis(call, value, 2) for value in parameters)

    def rule(dims: Dims) -> Value:
        count = _places(call, dims[-2:], kernel, dilation, padding, stride)
        window = None if kernel[0] is None or kernel[1] is None else kernel[0] * kernel[1]
        return call.tensor([*dims[:-3], None if window is None else dims[-3] * window, count], call.dtype(input))

    return each_rank(call, call.shape(input), (4, 3), rule)


def fold(call: Call, input: Value, output_size: Value, parameters: tuple[Value, Value, Value, Value]) -> Value:
    """torch.nn.functional.fold: (N, C * window, places) to (N, C, *output_size)."""
    kernel, dilation, padding, stride = (per_axis(call, value, 2) for value in parameters)
    sizes = per_axis(call, output_size, 2)
    window = None if kernel[0] is None or kernel[1] is None else kernel[0] * kernel[1]
    shape = call.of_rank(call.shape(input), 2, 3, what="an input")
    text = f"{call.text}: {{dim}} rows are not divisible by the window of {{by}} (input {call.show(shape)})"
    rows = call.facts.axis(shape, -2)
    call.require_divisible(rows, window, "SHP404", text)
    if sizes[0] is not None and sizes[1] is not None:
        count = _places(call, (sizes[0], sizes[1]), kernel, dilation, padding, stride)
        text = f"{call.text}: the output size has {{left}} places of the window, the input {{right}}"
        call.require_equal(count, call.facts.axis(shape, -1), "SHP201", text)
    channels = None if rows is None or window is None or window.constant == 0 else rows // window
    return each_rank(call, shape, (3, 2), lambda dims: call.tensor([*dims[:-2], channels, *sizes], call.dtype(input)))


def _places(
    call: Call,
    dims: Dims,
    kernel: tuple[Dim | None, ...],
    dilation: tuple[Dim | None, ...],
    padding: tuple[Dim | None, ...],
    stride: tuple[Dim | None, ...],
) -> Dim | None:
    total: Dim | None = Dim.of(1)
    for dim, k, d, p, s in zip(dims, kernel, dilation, padding, stride, strict=True):
        along = places(call, dim, Window(k, s, None if p is None else 2 * p, d), repr(Shape(dims)))
        total = None if total is None or along is None else total * along
    return total
