"""jax: jax.lax: axes, parts, joins, sums, products.

https://docs.jax.dev/en/latest/jax.lax.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.call import UNKNOWN
from distml.ops.numpy.dtypes import kind_of as asked_kind
from distml.ops.rules import axes as axis_rules
from distml.ops.rules import matmul as products
from distml.ops.rules import split, view
from distml.ops.rules.kinds import kind_of, promote
from distml.ops.rules.reduce import reduced
from distml.ops.rules.sizes import shape_from
from distml.ops.rules.sort import top
from distml.ops.semantics import tensors as rules
from distml.shapes import Dim, Shape
from distml.values import Const, Slice, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call

_LAX = "jax.lax."


def reshape(call: Call, x: Value, sizes: Value, dimensions: Value) -> Value:
    """jax.lax.reshape: the same elements under other sizes."""
    return rules.reshape(call, x, sizes)


bind(reshape, "operand new_sizes dimensions=None -out_sharding=None", f"{_LAX}reshape")
bind(rules.transpose, "operand permutation", f"{_LAX}transpose")
bind(rules.expand_dims, "array dimensions", f"{_LAX}expand_dims")
bind(rules.squeeze, "array dimensions", f"{_LAX}squeeze")


def concatenate(call: Call, operands: Value, axis: Value) -> Value:
    """jax.lax.concatenate: one array alone stays as it is, whatever the axis."""
    items = call.items(operands)
    if items is not None and len(items) == 1:
        return call.tensor(call.shape(items[0]), kind_of(items[0]))
    return rules.concatenate(call, operands, axis)


def from_front(call: Call, axis: Value) -> None:
    """An axis is counted from the front only (SHP202)."""
    number = call.const(axis, int)
    if isinstance(number, int) and number < 0:
        call.fail("SHP202", f"{call.text}: axis {number} is negative; axes are counted from the front")


def running(call: Call, x: Value, axis: Value) -> Value:
    """jax.lax.cumsum: the shape stays."""
    from_front(call, axis)
    made: Value = rules.along()(call, x, axis)
    return made


bind(concatenate, "operands dimension", f"{_LAX}concatenate")
bind(rules.along(), "operand dimensions", f"{_LAX}rev")
_RUNNING = "cumsum cumprod cummax cummin cumlogsumexp"
bind(running, "operand axis=0 -reverse=False", *(f"{_LAX}{name}" for name in _RUNNING.split()))


def broadcast(call: Call, x: Value, sizes: Value) -> Value:
    """jax.lax.broadcast: new axes in front."""
    shape, ahead = call.shape(x), call.sizes(sizes)
    if shape.dims is None or ahead is None:
        return call.unranked(kind_of(x))
    return call.tensor([*ahead, *shape.dims], kind_of(x))


def broadcast_in_dim(call: Call, x: Value, sizes: Value, places: Value) -> Value:
    """jax.lax.broadcast_in_dim: each axis takes its place among the new ones (SHP206)."""
    shape, wanted, listed = call.shape(x), call.sizes(sizes), call.items(places)
    if wanted is None:
        return call.unranked(kind_of(x))
    if listed is not None and shape.dims is not None:
        if len(listed) != len(shape.dims):
            text = f"{call.text}: {len(listed)} places for the {len(shape.dims)} axes of {call.show(shape)}"
            call.fail("SHP206", text, *call.notes(*shape.dims))
        for place, size in zip(listed, shape.dims, strict=True):
            at = call.const(place, int)
            target = wanted[at] if isinstance(at, int) and 0 <= at < len(wanted) else None
            if target is not None and size.differs(1) and size.differs(target):
                text = f"{call.text}: {size} of {call.show(shape)} cannot become {target} on axis {at}"
                call.fail("SHP206", text, *call.notes(size, target))
    return call.tensor(wanted, kind_of(x))


bind(broadcast, "operand sizes -out_sharding=None", f"{_LAX}broadcast")
bind(broadcast_in_dim, "operand shape broadcast_dimensions -out_sharding=None", f"{_LAX}broadcast_in_dim")


def _per_axis(call: Call, shape: Shape, *lists: Value) -> tuple[Shape, list[tuple[Dim | None, ...] | None]]:
    """A list of numbers for each axis, as many as there are axes (SHP301)."""
    found = [call.sizes(values) for values in lists]
    for values in found:
        if values is not None and shape.dims is not None and len(values) != len(shape.dims):
            text = f"{call.text}: {len(values)} numbers for the {len(shape.dims)} axes of {call.show(shape)}"
            call.fail("SHP301", text, *call.notes(*shape.dims))
    return shape, found


def cut(call: Call, x: Value, start: Value, limit: Value, strides: Value) -> Value:
    """jax.lax.slice: from one place to another along each axis, both inside it (SHP302)."""
    shape, (first, last) = _per_axis(call, call.shape(x), start, limit)
    if first is None or last is None or shape.dims is None:
        return call.unranked(kind_of(x)) if shape.rank is None else call.tensor([None] * shape.rank, kind_of(x))
    steps = None if call.is_none(strides) else call.sizes(strides)
    made: list[Dim | None] = []
    for axis, (size, begin, end) in enumerate(zip(shape.dims, first, last, strict=True)):
        step = Dim.of(1) if call.is_none(strides) else steps[axis] if steps is not None and axis < len(steps) else None
        if begin is None or end is None or step is None or step.constant == 0:
            made.append(None)
            continue
        _inside(call, end, size, shape)
        made.append(call.small(-(-(end - begin) // step)))
    return call.tensor(made, kind_of(x))


def _inside(call: Call, end: Dim, size: Dim, shape: Shape) -> None:
    over = (end - size).low
    if over is not None and over > 0:
        text = f"{call.text}: {end} is beyond the {size} of {call.show(shape)}"
        call.fail("SHP302", text, *call.notes(end, size))


def cut_axis(call: Call, x: Value, start: Value, limit: Value, stride: Value, axis: Value) -> Value:
    """jax.lax.slice_in_dim: a slice of one axis."""
    shape = call.shape(x)
    at = axis_rules.axis_in(call, axis, shape)
    size = None if at is None else call.facts.axis(shape, at)
    if size is None:
        return call.unranked(kind_of(x))
    from distml.ops.rules.slices import slice_length

    length = slice_length(call, size, Slice(start, limit, stride))
    return call.tensor(axis_rules.replace_axis(call, shape, at, length), kind_of(x))


def _begins(call: Call, shape: Shape, start: Value) -> None:
    """A part begins at a place of each axis (SHP301)."""
    items = None if isinstance(start, Tensor) else call.items(start)
    vector = call.shape(start) if isinstance(start, Tensor) else None
    given = vector.head[0] if vector is not None and vector.rank == 1 else None if items is None else Dim.of(len(items))
    if shape.dims is not None and given is not None and given.differs(len(shape.dims)):
        text = f"{call.text}: {given} places to begin for the {len(shape.dims)} axes of {call.show(shape)}"
        call.fail("SHP301", text, *call.notes(*shape.dims))


def dynamic_slice(call: Call, x: Value, start: Value, sizes: Value) -> Value:
    """jax.lax.dynamic_slice: a part of these sizes, which fits into x (SHP302)."""
    shape, (lengths,) = _per_axis(call, call.shape(x), sizes)
    _begins(call, shape, start)
    if lengths is None:
        return call.unranked(kind_of(x))
    for size, length in zip(shape.dims or (), lengths, strict=False):
        if length is not None:
            _inside(call, length, size, shape)
    return call.tensor(lengths, kind_of(x))


def dynamic_axis(call: Call, x: Value, start: Value, length: Value, axis: Value) -> Value:
    """jax.lax.dynamic_slice_in_dim: so many places of one axis."""
    shape = call.shape(x)
    at, count = axis_rules.axis_in(call, axis, shape), call.dim(length)
    size = None if at is None else call.facts.axis(shape, at)
    if size is not None and count is not None:
        _inside(call, count, size, shape)
    return call.tensor(axis_rules.replace_axis(call, shape, at, count), kind_of(x))


def index_axis(call: Call, x: Value, index: Value, axis: Value, keep: Value) -> Value:
    """jax.lax.dynamic_index_in_dim: one place of an axis."""
    shape, flag = call.shape(x), call.flag(keep)
    at = axis_rules.axis_in(call, axis, shape)
    if flag is None:
        return call.unranked(kind_of(x))
    made = axis_rules.replace_axis(call, shape, at, Dim.of(1)) if flag else axis_rules.drop_axis(call, shape, at)
    return call.tensor(made, kind_of(x))


bind(cut, "operand start_indices limit_indices strides=None", f"{_LAX}slice")
bind(cut_axis, "operand start_index limit_index stride=1 axis=0", f"{_LAX}slice_in_dim")
bind(dynamic_slice, "operand start_indices slice_sizes -allow_negative_indices=True", f"{_LAX}dynamic_slice")
bind(dynamic_axis, "operand start_index slice_size axis=0 -allow_negative_indices=True", f"{_LAX}dynamic_slice_in_dim")
bind(
    index_axis,
    "operand index axis=0 keepdims=True -allow_negative_indices=True",
    f"{_LAX}dynamic_index_in_dim",
    f"{_LAX}index_in_dim",
)


def update(call: Call, x: Value, part: Value, start: Value) -> Value:
    """jax.lax.dynamic_update_slice: the part begins at a place of each axis, and fits into x (SHP305)."""
    _begins(call, call.shape(x), start)
    return _updated(call, x, part)


def _updated(call: Call, x: Value, part: Value) -> Value:
    """A part has as many axes as x, and fits into it."""
    shape, given = call.shape(x), call.shape(part)
    if shape.dims is None or given.dims is None:
        return call.tensor(shape, kind_of(x))
    text = f"{call.text}: {given!r} does not fit into {shape!r}"
    if len(shape.dims) != len(given.dims):
        call.fail("SHP305", text, *call.notes(*shape.dims, *given.dims))
    for size, length in zip(shape.dims, given.dims, strict=True):
        over = (length - size).low
        if over is not None and over > 0:
            call.fail("SHP305", f"{text}: {length} is more than {size}", *call.notes(size, length))
    return call.tensor(shape, kind_of(x))


def update_axis(call: Call, x: Value, part: Value, start: Value, axis: Value) -> Value:
    """jax.lax.dynamic_update_slice_in_dim: the part starts at a place of one axis."""
    axis_rules.axis_in(call, axis, call.shape(x))
    return _updated(call, x, part)


def update_index(call: Call, x: Value, part: Value, start: Value, axis: Value) -> Value:
    """jax.lax.dynamic_update_index_in_dim: the part may lack the axis."""
    axis_rules.axis_in(call, axis, call.shape(x))
    return call.tensor(call.shape(x), kind_of(x))


bind(update, "operand update start_indices -allow_negative_indices=True", f"{_LAX}dynamic_update_slice")
_PLACE = "operand update start_index axis -allow_negative_indices=True"
bind(update_axis, _PLACE, f"{_LAX}dynamic_update_slice_in_dim")
bind(update_index, _PLACE.replace("start_", ""), f"{_LAX}dynamic_update_index_in_dim")


def pad(call: Call, x: Value, value: Value, widths: Value) -> Value:
    """jax.lax.pad: for each axis what is added before, behind and between (negative: taken away)."""
    shape, listed = call.shape(x), call.items(widths)
    if listed is None or shape.dims is None:
        return call.unranked(kind_of(x)) if shape.rank is None else call.tensor([None] * shape.rank, kind_of(x))
    if len(listed) != len(shape.dims):
        text = f"{call.text}: widths for {len(listed)} axes, {call.show(shape)} has {len(shape.dims)}"
        call.fail("SHP301", text, *call.notes(*shape.dims))
    made: list[Dim | None] = []
    for size, triple in zip(shape.dims, listed, strict=True):
        sides = call.sizes(triple)
        known = [] if sides is None else [side for side in sides if side is not None]
        if len(known) != 3:
            made.append(None)
            continue
        low, high, between = known
        inner = between if not between.terms else between * (size - 1)
        grown = call.small(size + low + high + inner)
        made.append(None if between.terms and not size.differs(0) else grown)
    return call.tensor(made, kind_of(x))


bind(pad, "operand padding_value padding_config", f"{_LAX}pad")


def full(call: Call, sizes: Value, value: Value, dtype: Value) -> Value:
    """jax.lax.full: an array of one number."""
    return call.tensor(shape_from(call, sizes), asked_kind(call, dtype, kind_of(value)))


def full_like(call: Call, x: Value, value: Value, dtype: Value, shape: Value) -> Value:
    """jax.lax.full_like: an array of one number, of the shape of another."""
    known = call.shape(x) if call.is_none(shape) else shape_from(call, shape)
    return call.tensor(known, asked_kind(call, dtype, kind_of(x)))


def counted(call: Call, dtype: Value, size: Value) -> Value:
    """jax.lax.iota: the numbers from 0."""
    return call.tensor([call.dim(size)], asked_kind(call, dtype, None))


def counted_along(call: Call, dtype: Value, sizes: Value, axis: Value) -> Value:
    """jax.lax.broadcasted_iota: the numbers from 0 along one axis."""
    from_front(call, axis)
    shape = shape_from(call, sizes)
    axis_rules.axis_in(call, axis, shape)
    return call.tensor(shape, asked_kind(call, dtype, None))


bind(full, "shape fill_value dtype=None * -sharding=None", f"{_LAX}full")
bind(full_like, "x fill_value dtype=None shape=None -sharding=None", f"{_LAX}full_like")
bind(counted, "dtype size", f"{_LAX}iota")
bind(counted_along, "dtype shape dimension -out_sharding=None", f"{_LAX}broadcasted_iota")


def ordered(call: Call, x: Value, axis: Value) -> Value:
    """jax.lax.sort: an array, or several in the order of the first."""
    items = x.items if isinstance(x, Tup) else None
    if items is None:
        return rules.along()(call, x, axis)
    return Tup(tuple(rules.along()(call, item, axis) for item in items))


def largest(call: Call, x: Value, count: Value, axis: Value) -> Value:
    """jax.lax.top_k: the largest elements and their places."""
    shape = top(call, call.shape(x), count, axis)
    return Tup((call.tensor(shape, kind_of(x)), call.tensor(shape, "int")))


def arg(call: Call, x: Value, axis: Value) -> Value:
    """jax.lax.argmax: the axis goes."""
    from_front(call, axis)
    shape = call.shape(x)
    return call.tensor(axis_rules.drop_axis(call, shape, axis_rules.axis_in(call, axis, shape)), "int")


bind(ordered, "operand dimension=-1 -is_stable=True -num_keys=1", f"{_LAX}sort")
bind(largest, "operand k * axis=-1 -is_stable=True", f"{_LAX}top_k")
bind(arg, "operand axis -index_dtype", f"{_LAX}argmax", f"{_LAX}argmin")


def over(call: Call, x: Value, axes: Value) -> Value:
    """jax.lax.reduce_sum and its like: the axes that are named go."""
    return call.tensor(reduced(call, call.shape(x), axes, Const(False)), kind_of(x))


def reduce(call: Call, x: Value, start: Value, function: Value, axes: Value) -> Value:
    """jax.lax.reduce: the axes that are named go."""
    return over(call, x, axes) if isinstance(x, Tensor) else call.unknown()


bind(over, "operand axes -out_sharding=None", *(f"{_LAX}reduce_{n}" for n in "max min sum prod and or xor".split()))
bind(reduce, "operands init_values computation dimensions -out_sharding=None", f"{_LAX}reduce")


def dot(call: Call, x: Value, y: Value, numbers: Value) -> Value:
    """jax.lax.dot: of vectors and matrices, or as `dot_general`."""
    if call.is_none(numbers) is not True:
        return dot_general(call, x, y, numbers)
    left, right = (call.of_rank(call.shape(value), 1, 2, what="an operand") for value in (x, y))
    return call.tensor(products.dot(call, left, right), promote((kind_of(x), kind_of(y))))


def dot_general(call: Call, x: Value, y: Value, numbers: Value) -> Value:
    """jax.lax.dot_general: pairs of axes are summed (SHP101), pairs are one (SHP104), the rest stand behind."""
    left, right = call.shape(x), call.shape(y)
    kind = promote((kind_of(x), kind_of(y)))
    pairs = [call.items(pair) for pair in call.items(numbers) or ()]
    if left.dims is None or right.dims is None or len(pairs) != 2:
        return call.unranked(kind)
    named: list[list[int]] = []
    for pair in pairs:
        for axes, shape in zip(pair or (), (left, right), strict=False):
            found = call.axes(axes, shape.rank)
            if found is None:
                return call.unranked(kind)
            named.append(list(found))
    if len(named) != 4 or len(named[0]) != len(named[1]) or len(named[2]) != len(named[3]):
        return call.unranked(kind)
    summed, together = zip(named[0], named[1], strict=True), list(zip(named[2], named[3], strict=True))
    for a, b in summed:
        text = f"{call.text}: {left!r} and {right!r} are summed over axes {a} and {b}: {{left}} meets {{right}}"
        call.require_equal(left.dims[a], right.dims[b], "SHP101", text)
    for a, b in together:
        text = f"{call.text}: {left!r} and {right!r} share axes {a} and {b}: {{left}} meets {{right}}"
        call.require_equal(left.dims[a], right.dims[b], "SHP104", text)
    return call.tensor(
        [
            *(left.dims[a] for a, _ in together),
            *_others(left.dims, named[0] + named[2]),
            *_others(right.dims, named[1] + named[3]),
        ],
        kind,
    )


def _others(dims: Sequence[Dim], gone: Sequence[int]) -> list[Dim]:
    return [dim for axis, dim in enumerate(dims) if axis not in gone]


_TYPED = "-precision=None -preferred_element_type=None -out_sharding=None"
bind(dot, f"lhs rhs * dimension_numbers=None {_TYPED}", f"{_LAX}dot")
bind(dot_general, f"lhs rhs dimension_numbers {_TYPED}", f"{_LAX}dot_general")


def batched(call: Call, x: Value, y: Value) -> Value:
    """jax.lax.batch_matmul: stacks of matrices."""
    return rules.matmul(call, x, y, Const(False), Const(False))


def collapse(call: Call, x: Value, start: Value, stop: Value) -> Value:
    """jax.lax.collapse: some axes as one."""
    last = call.const(stop, (int, type(None)))
    if last is UNKNOWN:
        return call.unranked(kind_of(x))
    end = Const(-1) if last is None else Const(last - 1)
    return call.tensor(view.flatten(call, call.shape(x), start, end), kind_of(x))


def parts(call: Call, x: Value, sizes: Value, axis: Value) -> Value:
    """jax.lax.split: parts of these sizes, which add up to the axis."""
    listed = call.sizes(sizes)
    if listed is None:
        return call.unknown()
    return rules.listed_parts(call, x, split.of_sizes(call, call.shape(x), axis, listed))


bind(batched, "lhs rhs -precision=None", f"{_LAX}batch_matmul")
bind(collapse, "operand start_dimension stop_dimension=None", f"{_LAX}collapse")
bind(parts, "operand sizes axis=0", f"{_LAX}split")


def gathered(call: Call, x: Value) -> Value:
    """jax.lax.gather: not followed."""
    return call.unranked(kind_of(x))


def scattered(call: Call, x: Value) -> Value:
    """jax.lax.scatter: the shape stays."""
    return call.tensor(call.shape(x), kind_of(x))


_WHERE = "-dimension_numbers -slice_sizes * -indices_are_sorted=False -unique_indices=False -mode=None -fill_value=None"
bind(gathered, f"operand -start_indices {_WHERE}", f"{_LAX}gather")
_WHERE = "-scatter_indices -updates -dimension_numbers * -indices_are_sorted=False -unique_indices=False -mode=None"
bind(scattered, f"operand {_WHERE}", *(f"{_LAX}scatter{n}" for n in ("", "_add", "_mul", "_min", "_max", "_sub")))
