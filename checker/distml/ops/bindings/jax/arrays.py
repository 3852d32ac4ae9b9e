"""jax: what an array does its own way: it never changes, `x.at[...]` gives another one, sizes of results can be asked for.

https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import adopt, bind
from distml.ops.registry import attribute, find_attribute, find_op, op
from distml.ops.rules.axes import replace_axis
from distml.ops.rules.index import assigned, indexed
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.ranks import rank_of
from distml.values import Const, InstanceRecord, Lib, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_AT = "jax.Array.at"
_ARRAY, _INDEX = "array", "index"


@attribute(_AT)
def at(call: Call, self: Value) -> Value:
    """`x.at`: what an index is taken of."""
    return call.world.allocate(InstanceRecord(Lib(_AT), {_ARRAY: self}))


@op(f"{_AT}.__getitem__")
def place(call: Call, self: Value, index: Value) -> Value:
    """`x.at[index]`: the place that another array is to differ in."""
    attrs = call.attrs(self) or {}
    return call.world.allocate(InstanceRecord(Lib(_AT), {**attrs, _INDEX: index}))


def _target(call: Call, self: Value) -> tuple[Tensor, Value] | None:
    attrs = call.attrs(self) or {}
    array, index = attrs.get(_ARRAY), attrs.get(_INDEX)
    return (array, index) if isinstance(array, Tensor) and index is not None else None


@op(
    *(f"{_AT}.{name}" for name in ("set", "add", "subtract", "multiply", "mul", "divide", "div", "power", "min", "max"))
)
def updated(call: Call, self: Value, values: Value, **options: Value) -> Value:
    """`x.at[index].set(values)`: an array of the shape of x; the values broadcast into the place (SHP305)."""
    target = _target(call, self)
    if target is None:
        return call.unranked()
    array, index = target
    assigned(call, call.shape(array), index, values, call.lib, drops_ones=False)
    return call.tensor(call.shape(array), kind_of(array))


@op(f"{_AT}.apply")
def applied(call: Call, self: Value, function: Value, **options: Value) -> Value:
    """`x.at[index].apply(function)`: an array of the shape of x."""
    target = _target(call, self)
    return call.unranked() if target is None else call.tensor(call.shape(target[0]), kind_of(target[0]))


@op(f"{_AT}.get")
def got(call: Call, self: Value, **options: Value) -> Value:
    """`x.at[index].get()`: the place itself."""
    target = _target(call, self)
    shape = None if target is None else indexed(call, call.shape(target[0]), target[1], call.lib)
    return call.unranked() if shape is None or target is None else call.tensor(shape, kind_of(target[0]))


@attribute(*(f"jax.Array.{name}" for name in ("sharding", "device", "aval", "weak_type", "flat")))
@op(
    *(
        f"jax.Array.{name}"
        for name in ("devices", "tobytes", "__array__", "addressable_data", "is_deleted", "on_device")
    )
)
def unknown(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """What is not followed."""
    return call.unknown()


@op("jax.Array.block_until_ready", "jax.Array.to_device", "jax.Array.copy_to_host_async")
def same(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """The same array."""
    return self


def _written(call: Call, array: Value) -> Value:
    return call.tensor(call.shape(array), kind_of(array))


bind(_written, "arr -indices -values -axis * -inplace=True -mode=None", "jax.numpy.put_along_axis")
bind(_written, "a -ind -v -mode=None * -inplace=True", "jax.numpy.put")
bind(_written, "a -val -wrap=False * -inplace=True", "jax.numpy.fill_diagonal")
adopt("jax.Array.sort", "numpy.sort", "stable descending")
for _name in "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul".split():
    # There is no operator in place: the name is bound to a new array.
    adopt(f"jax.Array.__i{_name}__", f"numpy.ndarray.__{_name}__")


def _places(call: Call, array: Value, size: Value) -> Value:
    """One vector of places for each axis, as many as are asked for."""
    rank = rank_of(call, call.shape(array)).constant
    one = call.tensor([None if call.is_none(size) is not False else call.dim(size)], "int")
    return call.unknown() if rank is None else Tup((one,) * rank)


def _flat_places(call: Call, array: Value, size: Value) -> Value:
    """Places in the flat array."""
    return call.tensor([None if call.is_none(size) is not False else call.dim(size)], "int")


def _rows(call: Call, array: Value, size: Value) -> Value:
    """One row of places for each element found."""
    count = None if call.is_none(size) is not False else call.dim(size)
    return call.tensor([count, rank_of(call, call.shape(array))], "int")


bind(_places, "a * size=None -fill_value=None", "jax.numpy.nonzero", "jax.Array.nonzero")
bind(_flat_places, "a * size=None -fill_value=None", "jax.numpy.flatnonzero")
bind(_rows, "a * size=None -fill_value=None", "jax.numpy.argwhere")


def _rows_apart(call: Call, array: Value, sections: Value) -> Value:
    """A split along the first axis, which a vector has too."""
    split = find_op("numpy.split")
    return call.unknown() if split is None else split(call, array, sections, Const(0))


bind(_rows_apart, "ary indices_or_sections", "jax.numpy.vsplit")


@attribute(*(f"jax.numpy.{name}" for name in ("newaxis", "pi", "e", "euler_gamma", "inf", "nan")))
def constant(call: Call) -> Value:
    """jax.numpy.pi and the others, which are NumPy's."""
    call.name = call.name.removeprefix("jax.")
    source = find_attribute(call.name)
    return call.unknown() if source is None else source(call)


def by_segment(call: Call, data: Value, count: Value) -> Value:
    """jax.ops.segment_sum: one row for each segment."""
    shape = call.shape(data)
    rows = None if call.is_none(count) is not False else call.dim(count)
    return call.tensor(replace_axis(call, shape, 0, rows), kind_of(data))


_SEGMENT = (
    "data -segment_ids num_segments=None -indices_are_sorted=False -unique_indices=False -bucket_size=None -mode=None"
)
bind(by_segment, _SEGMENT, *(f"jax.ops.segment_{name}" for name in ("sum", "max", "min", "prod")))
