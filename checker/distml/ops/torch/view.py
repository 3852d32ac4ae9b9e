"""torch: the same elements under another shape.

https://docs.pytorch.org/docs/stable/tensors.html and the functions of the same names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import MINUS_ONE, NONE, ZERO, Call
from distml.ops.registry import op
from distml.ops.rules import view as rules
from distml.ops.rules.axes import append_axis, axis_in, drop_axis, replace_axis
from distml.ops.rules.sizes import nonnegative
from distml.ops.rules.strides import require_view
from distml.ops.rules.widths import CHOSEN, width_of
from distml.shapes import Dim, Shape
from distml.values import Lib, Opaque, ShapeSeq, Tensor, Value

if TYPE_CHECKING:
    from distml.values import Tensor

FAMILIES = {"float": "float", "bfloat": "float", "int": "int", "uint": "int", "complex": "complex", "bool": "bool"}
"""What the names of dtypes begin with, and the kind that is."""


def like(call: Call, source: Value, shape: Shape) -> Tensor:
    """A tensor of the element kind of `source`."""
    return call.tensor(shape, call.dtype(source))


def sizes_of(call: Call, sizes: tuple[Value, ...]) -> rules.Sizes | None:
    """`view(2, 3)`, `view((2, 3))` or `view([2, 3])`."""
    return call.var_sizes(sizes)


def changed(call: Call, tensor: Value, shape: Shape) -> Value:
    """The tensor itself, its shape changed in place; a new one if the name called does not end in `_`."""
    if isinstance(tensor, Tensor) and call.name.endswith(("_", ".setter")):
        return call.world.reshaped(tensor, shape, moved=True)
    return like(call, tensor, shape)


def shape_asked(sizes: tuple[Value, ...]) -> Shape | None:
    """The shape itself in `view(y.shape)` where the rank of `y` is not known."""
    if len(sizes) == 1 and isinstance(sizes[0], ShapeSeq):
        return sizes[0].shape
    return None


@op("torch.Tensor.reshape")
def reshape_method(call: Call, self: Value, *shape: Value, **named: Value) -> Value:
    """torch.Tensor.reshape(*shape)"""
    given = (named["shape"],) if "shape" in named else shape
    return like(call, self, _reshaped(call, self, given))


@op("torch.reshape")
def reshape(call: Call, input: Value, shape: Value) -> Value:
    """torch.reshape(input, shape)"""
    return like(call, input, _reshaped(call, input, (shape,)))


def _reshaped(call: Call, tensor: Value, given: tuple[Value, ...]) -> Shape:
    whole = shape_asked(given)
    if whole is not None and call.sizes(given[0]) is None:
        return rules.reshape_whole(call, whole)
    return rules.reshape(call, call.shape(tensor), sizes_of(call, given))


@op("torch.Tensor.view")
def view(call: Call, self: Value, *shape: Value, **named: Value) -> Value:
    """torch.Tensor.view(*shape), torch.Tensor.view(dtype)"""
    given = tuple(named.values()) or shape
    if len(given) == 1 and isinstance(given[0], Lib):
        return _viewed_as(call, self, given[0])
    if len(given) == 1 and isinstance(given[0], Opaque):
        # It may be a dtype as well as a shape.
        return call.unranked()
    made = _reshaped(call, self, given)
    require_view(call, self, made)
    return like(call, self, made)


def _viewed_as(call: Call, tensor: Value, dtype: Lib) -> Value:
    """Elements read as another type: as many axes, the last one by the ratio of their widths."""
    name = dtype.name.rpartition(".")[2]
    kind = next((kind for prefix, kind in FAMILIES.items() if name.startswith(prefix)), None)
    shape = call.shape(tensor)
    if shape.rank == 0 or (shape.rank is None and shape.least == 0):
        return call.tensor(shape if shape.rank == 0 else call.facts.unknown_shape(), kind)
    return call.tensor(replace_axis(call, shape, -1, None), kind)


@op("torch.Tensor.view_as", "torch.Tensor.reshape_as")
def view_as(call: Call, self: Value, other: Value) -> Value:
    """torch.Tensor.view_as(other), torch.Tensor.reshape_as(other)"""
    target = call.shape(other)
    if target.dims is None:
        return like(call, self, target)
    shape = rules.reshape(call, call.shape(self), target.dims)
    if call.name.endswith(".view_as"):
        require_view(call, self, shape)
    return like(call, self, shape)


@op("torch.Tensor.resize_", "torch.Tensor.resize")
def resize(call: Call, self: Value, *sizes: Value, memory_format: Value = NONE) -> Value:
    """torch.Tensor.resize_(*sizes): any number of elements"""
    asked = call.var_sizes(sizes)
    shape = call.facts.unknown_shape() if asked is None else call.tensor(asked).shape
    return changed(call, self, shape)


@op("torch.Tensor.resize_as_", "torch.resize_as_", "torch.Tensor.resize_as")
def resize_as(call: Call, self: Value, the_template: Value, *, memory_format: Value = NONE) -> Value:
    """torch.Tensor.resize_as_(tensor)"""
    return changed(call, self, call.shape(the_template))


@op("torch.Tensor.set_")
def set_in_place(call: Call, self: Value, source: Value = NONE, *layout: Value, **named: Value) -> Value:
    """torch.Tensor.set_(source): the tensor becomes a view of another's elements"""
    whole = isinstance(source, Tensor) and not layout and not named
    return changed(call, self, call.shape(source) if whole else call.facts.unknown_shape())


@op("torch.Tensor.data.setter")
def set_data(call: Call, self: Value, value: Value) -> Value:
    """`x.data = value`: the tensor takes over the other's elements and their shape; a parameter, their dtype"""
    if width_of(self) is None or width_of(self) != width_of(value):
        call.world.put(CHOSEN, True)
    return changed(call, self, call.shape(value))


@op("torch.Tensor.unfold", "torch.unfold_copy")
def unfold(call: Call, self: Value, dimension: Value, size: Value, step: Value) -> Value:
    """torch.Tensor.unfold(dimension, size, step): windows of an axis, their elements on a new last axis"""
    shape, width = call.shape(self), nonnegative(call, call.dim(size))
    at, stride = axis_in(call, dimension, shape), call.dim(step)
    if shape.least == 0 and at in (0, -1):
        # A scalar has these axes too; there the window is all there is.
        return like(call, self, append_axis(call, call.facts.unknown_shape(), width))
    count = None
    total = None if at is None else call.facts.axis(shape, at)
    if total is not None and stride is not None and stride.constant != 0:
        call.require_positive(
            total - width,
            "SHP403",
            f"{call.text}: windows of {width} do not fit into the {total} of axis {at} of {shape!r}",
            least=0,
        )
        count = (total - width) // stride + 1
    return like(call, self, append_axis(call, replace_axis(call, shape, at, count), width))


@op("torch.flatten", "torch.Tensor.flatten")
def flatten(call: Call, input: Value, start_dim: Value = ZERO, end_dim: Value = MINUS_ONE) -> Value:
    """torch.flatten(input, start_dim=0, end_dim=-1)"""
    return like(call, input, rules.flatten(call, call.shape(input), start_dim, end_dim))


@op("torch.ravel", "torch.Tensor.ravel")
def ravel(call: Call, input: Value) -> Value:
    """torch.ravel(input)"""
    return like(call, input, rules.ravel(call, call.shape(input)))


@op("torch.unflatten")
def unflatten(call: Call, input: Value, dim: Value, sizes: Value) -> Value:
    """torch.unflatten(input, dim, sizes)"""
    return like(call, input, rules.unflatten(call, call.shape(input), dim, call.sizes(sizes)))


@op("torch.Tensor.unflatten")
def unflatten_method(call: Call, self: Value, dim: Value, *sizes: Value, **named: Value) -> Value:
    """torch.Tensor.unflatten(dim, sizes)"""
    given = (named["sizes"],) if "sizes" in named else sizes
    return like(call, self, rules.unflatten(call, call.shape(self), dim, call.var_sizes(given)))


@op("torch.as_strided", "torch.Tensor.as_strided", "torch.as_strided_copy")
def as_strided(call: Call, input: Value, size: Value, stride: Value, storage_offset: Value = NONE) -> Value:
    """torch.as_strided(input, size, stride)"""
    asked = call.sizes(size)
    return like(call, input, call.facts.unknown_shape()) if asked is None else call.tensor(asked, call.dtype(input))


@op("torch.view_as_real", "torch.view_as_real_copy")
def view_as_real(call: Call, input: Value) -> Value:
    """torch.view_as_real(input): one more axis of size 2"""
    shape = append_axis(call, call.shape(input), Dim.of(2))
    return call.tensor(shape, "float")


@op("torch.view_as_complex", "torch.view_as_complex_copy")
def view_as_complex(call: Call, input: Value) -> Value:
    """torch.view_as_complex(input): the last axis, of size 2, goes"""
    shape = call.shape(input)
    call.require_equal(
        call.facts.axis(shape, -1),
        Dim.of(2),
        "SHP301",
        f"{call.text} needs a last axis of size 2, gets {{left}} ({call.show(shape)})",
    )
    return call.tensor(drop_axis(call, shape, -1) if shape.rank != 0 else shape, "complex")
