"""jax: convolution and windows of jax.lax, in any order of the axes.

https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.bindings.signature import bind
from distml.ops.call import FALSE, NONE, ShapeError
from distml.ops.rules.kinds import kind_of
from distml.ops.semantics.conv import Kernel, convolve
from distml.ops.semantics.window import Axes, Layout, Padding, Window, places, spread, windows
from distml.shapes import Dim, Shape
from distml.values import Const, Tensor, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

ONE = Dim.of(1)
_WORDS: dict[str, Padding] = {"SAME": "same", "SAME_LOWER": "same", "VALID": "valid"}


class Orders(NamedTuple):
    """Where image, kernel and result keep their axes: letters, and one for each spatial axis."""

    image: str
    kernel: str
    result: str


def orders_of(call: Call, numbers: Value, count: int) -> Orders | None:
    """`dimension_numbers`; channels before the spatial axes for None."""
    spatial = "0123456789"[:count]
    if call.is_none(numbers):
        return Orders("NC" + spatial, "OI" + spatial, "NC" + spatial)
    words = [call.const(item, str) for item in call.items(numbers) or ()]
    if len(words) != 3 or not all(isinstance(word, str) and len(word) == count + 2 for word in words):
        return None
    # The names of the spatial axes are the kernel's, in its order.
    names = [letter for letter in words[1] if letter not in "OI"]
    table = {name: str(place) for place, name in enumerate(names)}
    image, kernel, result = ("".join(table.get(letter, letter) for letter in word) for word in words)
    kept = ("NC" + spatial, "OI" + spatial, "NC" + spatial)
    matched = all(sorted(one) == sorted(other) for one, other in zip((image, kernel, result), kept, strict=True))
    return Orders(image, kernel, result) if matched else None


def paddings_of(call: Call, padding: Value, count: int) -> tuple[Padding, ...]:
    """A word, or what is added on both sides of each axis."""
    word = call.const(padding, str)
    if isinstance(word, str):
        return (_WORDS.get(word.upper()),) * count
    pairs = call.items(padding)
    if pairs is None or len(pairs) != count:
        return (None,) * count
    found: list[Padding] = []
    for pair in pairs:
        sides = call.sizes(pair)
        known = [side for side in sides or () if side is not None]
        found.append(known[0] + known[1] if len(known) == 2 else None)
    return tuple(found)


def each_axis(call: Call, value: Value, count: int) -> Axes:
    """Strides or dilations: 1 for None, else one for each axis."""
    if call.is_none(value):
        return (ONE,) * count
    return call.per_axis(value, count) or (None,) * count


def conv(
    call: Call,
    x: Value,
    kernel: Value,
    strides: Value,
    padding: Value,
    spread: Value,
    dilation: Value,
    numbers: Value,
    groups: Value,
    batch_groups: Value,
) -> Value:
    """jax.lax.conv_general_dilated."""
    image, weight = call.shape(x), call.shape(kernel)
    rank = image.rank if image.rank is not None else weight.rank
    if rank is None or rank < 2:
        return call.unranked(kind_of(x))
    count = rank - 2
    image, weight = call.of_rank(image, rank), call.of_rank(weight, rank, what="a kernel")
    orders = orders_of(call, numbers, count)
    if orders is None or image.dims is None or weight.dims is None or batch_groups != Const(1):
        return call.tensor([None] * rank, kind_of(x))
    own = dict(zip(orders.image, image.dims, strict=True))
    weights = dict(zip(orders.kernel, weight.dims, strict=True))
    spatial = [str(axis) for axis in range(count)]
    between = each_axis(call, spread, count)
    sizes = [_spread(call, own[axis], gap) for axis, gap in zip(spatial, between, strict=True)]
    number = call.dim(groups)
    needs = None if number is None else weights["I"] * number
    read = windows(
        tuple(weights[axis] for axis in spatial),
        each_axis(call, strides, count),
        paddings_of(call, padding, count),
        each_axis(call, dilation, count),
    )
    made = fitting(call, Shape((own["N"], *sizes, own["C"])), Kernel(needs, weights["O"], number), read)
    if made.dims is None:
        return call.tensor([None] * rank, kind_of(x))
    result = dict(zip(["N", *spatial, "C"], made.dims, strict=True))
    return call.tensor(Shape(tuple(result[letter] for letter in orders.result)), kind_of(x))


def fitting(call: Call, image: Shape, kernel: Kernel, read: tuple[Window, ...]) -> Shape:
    """A convolution with the channels last; a window that does not fit gives an image without elements."""
    try:
        made = convolve(call, image, kernel, read, Layout(len(read), True), (len(read) + 2,))
    except ShapeError as error:
        if error.code != "SHP403":
            raise
        return Shape((image.head[0], *(call.symbol("size") for _ in read), kernel.gives or call.symbol("channels")))
    return call.facts.shape(made.shape) if isinstance(made, Tensor) else call.facts.unknown_shape()


def _spread(call: Call, size: Dim, gap: Dim | None) -> Dim:
    """The size of an axis with zeros put between its elements."""
    if gap is None:
        return call.symbol("size")
    return size if gap == ONE else (size - 1) * gap + 1


_TYPED = "-precision=None -preferred_element_type=None"
bind(
    conv,
    "lhs rhs window_strides padding lhs_dilation=None rhs_dilation=None dimension_numbers=None feature_group_count=1"
    f" batch_group_count=1 {_TYPED}",
    "jax.lax.conv_general_dilated",
)
bind(
    lambda call, x, kernel, strides, padding: conv(
        call, x, kernel, strides, padding, NONE, NONE, NONE, Const(1), Const(1)
    ),
    f"lhs rhs window_strides padding {_TYPED}",
    "jax.lax.conv",
)
bind(
    lambda call, x, kernel, strides, padding, spread, dilation, numbers: conv(
        call, x, kernel, strides, padding, spread, dilation, numbers, Const(1), Const(1)
    ),
    f"lhs rhs window_strides padding lhs_dilation=None rhs_dilation=None dimension_numbers=None {_TYPED}",
    "jax.lax.conv_with_general_padding",
)


def numbers_of(call: Call, image: Value, kernel: Value, numbers: Value) -> Value:
    """jax.lax.conv_dimension_numbers: the orders themselves."""
    return numbers


bind(numbers_of, "lhs_shape rhs_shape dimension_numbers", "jax.lax.conv_dimension_numbers")


def transposed(
    call: Call,
    x: Value,
    kernel: Value,
    strides: Value,
    padding: Value,
    dilation: Value,
    numbers: Value,
    swapped: Value,
    consistent: Value,
) -> Value:
    """jax.lax.conv_transpose: each spatial axis as long as its strides make it, or as the sides that are added do."""
    image, weight = call.shape(x), call.shape(kernel)
    rank = image.rank if image.rank is not None else weight.rank
    if rank is None or rank < 3:
        return call.unranked(kind_of(x))
    count, plain = rank - 2, swapped == FALSE and consistent == FALSE
    spatial = "0123456789"[:count]
    channels_last = Orders(f"N{spatial}C", f"{spatial}IO", f"N{spatial}C")
    orders = channels_last if call.is_none(numbers) else orders_of(call, numbers, count)
    image, weight = call.of_rank(image, rank), call.of_rank(weight, rank, what="a kernel")
    if orders is None or not plain or image.dims is None or weight.dims is None:
        return call.tensor([None] * rank, kind_of(x))
    own = dict(zip(orders.image, image.dims, strict=True))
    weights = dict(zip(orders.kernel, weight.dims, strict=True))
    message = f"{call.text}: the kernel {call.show(weight)} takes {{left}} channels, {call.show(image)} has {{right}}"
    call.require_equal(weights["I"], own["C"], "SHP402", message)
    kernels, between = tuple(weights[axis] for axis in spatial), each_axis(call, dilation, count)
    read = windows(kernels, each_axis(call, strides, count), paddings_of(call, padding, count), between)
    grown = [_grown(call, own[axis], one) for axis, one in zip(spatial, read, strict=True)]
    result = dict(zip(["N", *spatial, "C"], [own["N"], *grown, weights["O"]], strict=True))
    return call.tensor([result[letter] for letter in orders.result], kind_of(x))


def _grown(call: Call, size: Dim, window: Window) -> Dim | None:
    """The size by a word; by sides that are added to the spread image it is what a convolution leaves of that."""
    if isinstance(window.padding, str):
        return spread(call, size, window)
    added, stride, reach = window.padding, window.stride, window.reach
    if added is None or stride is None or reach is None:
        return None
    return (size - 1) * stride + added - reach + 2


bind(
    transposed,
    "lhs rhs strides padding rhs_dilation=None dimension_numbers=None transpose_kernel=False"
    f" {_TYPED} use_consistent_padding=False",
    "jax.lax.conv_transpose",
)


def window(call: Call, x: Value, sizes: Value, strides: Value, padding: Value, spread: Value, dilation: Value) -> Value:
    """jax.lax.reduce_window: a window over every axis."""
    if not isinstance(x, Tensor):
        return call.unknown()
    shape, reach = call.shape(x), call.sizes(sizes)
    if shape.dims is None or reach is None:
        return call.unranked(kind_of(x))
    count = len(shape.dims)
    if len(reach) != count:
        text = f"{call.text}: a window of {len(reach)} axes over {call.show(shape)}"
        call.fail("SHP301", text, *call.notes(*shape.dims))
    between = each_axis(call, spread, count)
    wide = [_spread(call, size, gap) for size, gap in zip(shape.dims, between, strict=True)]
    read = windows(
        tuple(reach),
        each_axis(call, strides, count),
        paddings_of(call, padding, count),
        each_axis(call, dilation, count),
    )
    return call.tensor(slid(call, wide, read), kind_of(x))


def slid(call: Call, sizes: list[Dim], read: tuple[Window, ...]) -> list[Dim | None]:
    """The places of each window; where it does not fit there is none, and no error."""
    made: list[Dim | None] = []
    for size, one in zip(sizes, read, strict=True):
        try:
            made.append(places(call, size, one, repr(Shape(tuple(sizes)))))
        except ShapeError as error:
            if error.code != "SHP403":
                raise
            made.append(None)
    return made


bind(
    window,
    "operand -init_value -computation window_dimensions window_strides=None padding='VALID' base_dilation=None"
    " window_dilation=None",
    "jax.lax.reduce_window",
)


def smoothed(call: Call, x: Value, kernel: Value, mode: Value) -> Value:
    """jax.scipy.signal.convolve: along every axis both lengths together less one, or as `mode` says."""
    left, right, word = call.shape(x), call.shape(kernel), call.const(mode, str)
    if left.dims is None or right.dims is None:
        return call.unranked("float")
    if len(left.dims) != len(right.dims):
        text = f"{call.text}: {left!r} and {right!r} must have as many axes"
        call.fail("SHP301", text, *call.notes(*left.dims, *right.dims))
    if word == "same":
        return call.tensor(left)
    full = [a + b - 1 for a, b in zip(left.dims, right.dims, strict=True)]
    return call.tensor(full if word == "full" else [None] * len(full))


bind(smoothed, "in1 in2 mode='full' -method='auto' -precision=None", "jax.scipy.signal.convolve")
bind(smoothed, "in1 in2 mode='full' -method='auto' -precision=None", "jax.scipy.signal.correlate")
