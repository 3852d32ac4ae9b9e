"""tensorflow: tensors and variables as values: what makes them, what they say of themselves, operators, indexing.

https://www.tensorflow.org/api_docs/python/tf/Tensor, https://www.tensorflow.org/api_docs/python/tf/Variable
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.call import NONE
from distml.ops.registry import attribute, op
from distml.ops.rules.index import indexed, picked
from distml.ops.rules.index_parts import parse
from distml.ops.rules.kinds import element_kind, floating, kind_of, promote
from distml.ops.rules.pointwise import elementwise, fits_into, foreign, warn_difference
from distml.ops.rules.ranks import rank_of
from distml.ops.semantics import tensors as rules
from distml.shapes import Shape
from distml.values import TENSOR_SHAPE, Const, Num, Prim, Ref, ShapeSeq, Tensor, Tup, Value, claimed

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

_TENSOR = "tensorflow.Tensor"


def constant(call: Call, value: Value, dtype: Value, shape: Value) -> Value:
    """A tensor of what is given; a shape that is asked for too reshapes it, or repeats one number."""
    kind = asked_kind(call, dtype, element_kind(call, value))
    own = call.shape(value)
    if call.is_none(shape) is not True:
        return rules.filled(call, shape, kind)
    items = call.items(value)
    numbers = items if items is not None and all(isinstance(item, Const | Num) for item in items) else None
    content = (value,) if isinstance(value, Num | Const) and type(getattr(value, "value", 0)) is int else numbers
    whole = content and kind in (None, "int") and all(call.dim(item) is not None for item in content)
    if isinstance(value, Tensor):
        content, whole = value.content, value.content is not None and kind == "int"
    return Tensor(call.lib, own, kind, content=content if whole else None)


def variable(call: Call, initial: Value, dtype: Value, shape: Value) -> Value:
    """A variable has the shape of what it begins with; a shape that is given may be wider."""
    known = call.is_none(shape)
    if not isinstance(initial, Tensor | Const | Num | Prim | Tup | Ref) or not known:
        return call.unranked(asked_kind(call, dtype, None))
    return Tensor(call.lib, call.shape(initial), asked_kind(call, dtype, element_kind(call, initial)), parameter=True)


bind(constant, "value dtype=None shape=None -name='Const'", "tensorflow.constant")
bind(
    lambda call, value, dtype: constant(call, value, dtype, NONE),
    "value dtype=None -dtype_hint=None -name=None",
    "tensorflow.convert_to_tensor",
)
bind(
    lambda call, value, dtype: constant(call, value, dtype, NONE),
    "x dtype=None -sparse=None -ragged=None",
    "keras.ops.convert_to_tensor",
    "keras.ops.array",
)
bind(
    variable,
    "initial_value=None -trainable=None -validate_shape=True -caching_device=None -name=None -variable_def=None"
    " dtype=None -import_scope=None -constraint=None -synchronization=None -aggregation=None shape=None",
    "tensorflow.Variable",
)


def sizes(call: Call, shape: Shape) -> Value:
    """`x.shape`: a size that is not written down may be None while a graph is made, so nothing decides that it is not."""
    shape = call.facts.shape(shape)
    if shape.dims is None:
        return ShapeSeq(shape, call.lib)
    return Tup(tuple(claimed(call.number(dim)) for dim in shape.dims), TENSOR_SHAPE)


@attribute(f"{_TENSOR}.shape")
def shape_attribute(call: Call, self: Value) -> Value:
    """tf.Tensor.shape"""
    return sizes(call, call.shape(self))


@op(f"{_TENSOR}.get_shape")
def get_shape(call: Call, self: Value) -> Value:
    """tf.Tensor.get_shape()"""
    return sizes(call, call.shape(self))


@op(f"{TENSOR_SHAPE}.as_list")
def as_list(call: Call, self: Value) -> Value:
    """tf.TensorShape.as_list()"""
    items = call.items(self)
    return call.unknown() if items is None else call.list_of(items)


@op(f"{TENSOR_SHAPE}.__eq__", f"{TENSOR_SHAPE}.__ne__")
def same_sizes(call: Call, left: Value, right: Value) -> Value:
    """`x.shape == [1, 2]`: lists and single numbers are shapes too, and a size that is None is equal to none."""
    one, other = (call.sizes(value) for value in (left, right))
    if one is None or other is None:
        return Prim("bool")
    unequal = call.name.endswith("__ne__")
    if len(one) != len(other) or any(
        a is not None and b is not None and a.differs(b) for a, b in zip(one, other, strict=True)
    ):
        return Const(unequal)
    known = all(a is not None and a.constant is not None and a == b for a, b in zip(one, other, strict=True))
    return Const(not unequal) if known else Prim("bool")


@op(f"{TENSOR_SHAPE}.num_elements")
def num_elements(call: Call, self: Value) -> Value:
    """tf.TensorShape.num_elements(): None where a size is"""
    found = call.sizes(self)
    if found is None or any(each is None or each.constant is None for each in found):
        return call.unknown()
    return Const(math.prod(each.constant or 0 for each in found if each is not None))


@op(f"{TENSOR_SHAPE}.concatenate")
def concatenate(call: Call, self: Value, other: Value) -> Value:
    """tf.TensorShape.concatenate(other)"""
    one, two = call.items(self), call.items(other)
    return call.unknown() if one is None or two is None else Tup((*one, *two), TENSOR_SHAPE)


@op(f"{TENSOR_SHAPE}.is_compatible_with", f"{TENSOR_SHAPE}.is_fully_defined")
def asked_of_shape(call: Call, self: Value, other: Value = NONE) -> Value:
    """tf.TensorShape.is_compatible_with(other)"""
    return Prim("bool")


@attribute(f"{TENSOR_SHAPE}.rank", f"{TENSOR_SHAPE}.ndims")
def rank_of_shape(call: Call, self: Value) -> Value:
    """tf.TensorShape.rank"""
    items = call.items(self)
    return call.unknown() if items is None else Const(len(items))


@attribute(f"{_TENSOR}.ndim")
def ndim(call: Call, self: Value) -> Value:
    """tf.Tensor.ndim"""
    return call.number(rank_of(call, call.shape(self)))


def ensured(call: Call, x: Value, shape: Value) -> Value:
    """tf.ensure_shape(x, shape): None stands for any size (SHP301)"""
    asked = call.items(shape)
    if asked is None:
        return call.tensor(call.shape(x), call.dtype(x))
    known = call.of_rank(call.shape(x), len(asked), what="a tensor")
    for axis, size in enumerate(asked):
        if call.is_none(size) is False:
            text = f"{call.text}: axis {axis} of {call.show(known)} has {{left}}, {{right}} is asked for"
            call.require_equal(call.facts.axis(known, axis), call.dim(size), "SHP301", text)
    return call.tensor(call.facts.shape(known), call.dtype(x))


@op(f"{_TENSOR}.set_shape")
def set_shape(call: Call, self: Value, shape: Value) -> Value:
    """tf.Tensor.set_shape(shape): what is said of the sizes is so from here on"""
    ensured(call, self, shape)
    return NONE


bind(ensured, "x shape -name=None", "tensorflow.ensure_shape")


@op(f"{_TENSOR}.__hash__")
def silent(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """What is not followed."""
    return call.unknown()


@op(f"{_TENSOR}.numpy", f"{_TENSOR}.__array__")
def numpy(call: Call, self: Value, *args: Value) -> Value:
    """tf.Tensor.numpy(): an array of NumPy, of which the known integers are kept."""
    content = self.content if isinstance(self, Tensor) else None
    return Tensor("numpy", call.shape(self), kind_of(self), content=content)


@op(f"{_TENSOR}.read_value", f"{_TENSOR}.value")
def value(call: Call, self: Value) -> Value:
    """tf.Variable.value()"""
    return call.tensor(call.shape(self), kind_of(self))


@op(f"{_TENSOR}.assign", f"{_TENSOR}.assign_add", f"{_TENSOR}.assign_sub")
def assign(call: Call, self: Value, value: Value, *args: Value, **options: Value) -> Value:
    """tf.Variable.assign(value): of the variable's own shape"""
    own, given = call.shape(self), call.shape(value)
    message = f"{call.text}: the value {given!r} does not have the shape {own!r} of the variable"
    if isinstance(self, Tensor) and self.parameter:
        fits_into(call, given, own, code="SHP305", message=message)
    return self


def _operator(kind: Callable[[str | None], str | None]) -> Callable[..., Value]:
    def operator(call: Call, left: Value, right: Value) -> Value:
        """`left + right` and its like: the operands broadcast."""
        if foreign(call, left) or foreign(call, right):
            return call.unknown()
        return call.tensor(elementwise(call, left, right), kind(promote((kind_of(left), kind_of(right)))))

    return operator


def _difference(call: Call, left: Value, right: Value) -> Value:
    """`left - right`"""
    result = _operator(rules.same)(call, left, right)
    if isinstance(result, Tensor):
        warn_difference(call, call.shape(left), call.shape(right))
    return result


def _equal(call: Call, left: Value, right: Value) -> Value:
    """`left == right`: of shapes that do not broadcast it is False, and no error."""
    same = not foreign(call, left) and not foreign(call, right) and call.shape(left) == call.shape(right)
    return call.tensor(call.shape(left), "bool") if same else call.unknown()


_SAME = "add mul floordiv mod pow and or xor"
_OPERATORS = {name: _operator(rules.same) for name in _SAME.split()}
_OPERATORS |= {"truediv": _operator(floating), "sub": _difference}
for _name, _function in _OPERATORS.items():
    op(*(f"{_TENSOR}.__{prefix}{_name}__" for prefix in ("", "r", "i")))(_function)
op(*(f"{_TENSOR}.__{name}__" for name in ("lt", "le", "gt", "ge")))(_operator(rules.always("bool")))
op(f"{_TENSOR}.__eq__", f"{_TENSOR}.__ne__")(_equal)


@op(f"{_TENSOR}.__matmul__", f"{_TENSOR}.__rmatmul__")
def matmul(call: Call, left: Value, right: Value) -> Value:
    """`left @ right`, of matrices and stacks of them"""
    if foreign(call, left) or foreign(call, right):
        return call.unknown()
    return rules.matmul(call, left, right, Const(False), Const(False))


@op(*(f"{_TENSOR}.__{name}__" for name in ("neg", "pos", "abs", "invert")))
def unary(call: Call, self: Value) -> Value:
    """`-x`, `abs(x)`"""
    return call.tensor(call.shape(self), kind_of(self) if kind_of(self) != "complex" else None)


@op(f"{_TENSOR}.__getitem__")
def getitem(call: Call, self: Value, index: Value) -> Value:
    """`x[...]`: integers, slices, new axes, or one mask; arrays of integers are not taken."""
    found = parse(call, index, call.lib)
    arrays = [part for part in found or () if part.kind in ("array", "mask")]
    if found is None or any(part.kind == "array" for part in arrays) or (arrays and len(found) > 1):
        return call.unranked(kind_of(self))
    shape = indexed(call, call.shape(self), index, call.lib)
    if shape is None:
        return call.unranked(kind_of(self))
    content = picked(call, self, index) if isinstance(self, Tensor) else None
    return Tensor(call.lib, shape, kind_of(self), content=content)


@op(f"{_TENSOR}.__setitem__")
def setitem(call: Call, self: Value, index: Value, value: Value) -> Value:
    """A tensor does not change: no matter of shapes."""
    return NONE


@op(f"{_TENSOR}.__len__")
def length(call: Call, self: Value) -> Value:
    """`len(x)`"""
    size = call.facts.axis(call.shape(self), 0)
    return Prim("int") if size is None else call.number(size)


@op(f"{_TENSOR}.__bool__", f"{_TENSOR}.__contains__")
def truth(call: Call, self: Value, *args: Value) -> Value:
    """`bool(x)`"""
    return Prim("bool")


@op(f"{_TENSOR}.__int__", f"{_TENSOR}.__index__")
def integer(call: Call, self: Value) -> Value:
    """`int(x)`: the one element"""
    number = self.number if isinstance(self, Tensor) else None
    return Prim("int") if number is None else number


@op("tensorflow.TensorShape")
def tensor_shape(call: Call, dims: Value) -> Value:
    """tf.TensorShape(dims)"""
    items = call.items(dims)
    return call.unknown() if items is None else Tup(items, TENSOR_SHAPE)
