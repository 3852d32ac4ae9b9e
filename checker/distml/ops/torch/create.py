"""torch: tensors made from sizes, from data, and like another tensor.

https://docs.pytorch.org/docs/stable/torch.html#creation-ops; the random ones are in `random`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ONE, ZERO, Call
from distml.ops.registry import op
from distml.ops.rules.elements import held, nested, written
from distml.ops.rules.kinds import element_kind, kind_of
from distml.ops.rules.ranges import range_content, range_kind, range_largest, range_length, spaced
from distml.ops.rules.sizes import nonnegative, of_items, shape_from
from distml.ops.rules.strides import require_forward
from distml.ops.torch.dtypes import TENSOR_TYPES, asked_kind, into, kept, like, tensor_type
from distml.ops.torch.nested_data import require_even
from distml.shapes import Shape
from distml.values import (
    SHAPE_KINDS,
    Const,
    Expr,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Ref,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def size_given(call: Call, size: tuple[Value, ...], named: dict[str, Value]) -> Shape:
    """`zeros(2, 3)`, `zeros((2, 3))` or `zeros(size=(2, 3))`."""
    if "size" in named:
        return shape_from(call, named["size"])
    if len(size) == 1:
        return shape_from(call, size[0])
    return of_items(call, size)


def _filled(default: str | None) -> Callable[..., Value]:
    def filled(call: Call, *size: Value, out: Value = NONE, dtype: Value = NONE, **named: Value) -> Value:
        """torch.zeros(*size), torch.ones, torch.empty"""
        return into(call, call.tensor(size_given(call, size, named), asked_kind(call, dtype, default)), out)

    return filled


op("torch.zeros", "torch.ones", "torch.empty")(_filled("float"))


@op("torch.full")
def full(
    call: Call, size: Value, fill_value: Value, *, out: Value = NONE, dtype: Value = NONE, **options: Value
) -> Value:
    """torch.full(size, fill_value)"""
    kind = asked_kind(call, dtype, kind_of(fill_value))
    return into(call, call.tensor(shape_from(call, size), kind), out)


@op("torch.empty_strided", "torch.empty_permuted")
def empty_strided(call: Call, size: Value, stride: Value, *, dtype: Value = NONE, **options: Value) -> Value:
    """torch.empty_strided(size, stride)"""
    return call.tensor(shape_from(call, size), asked_kind(call, dtype, "float"))


@op("torch.zeros_like", "torch.ones_like", "torch.empty_like")
def zeros_like(call: Call, input: Value, *, dtype: Value = NONE, **options: Value) -> Value:
    """torch.zeros_like(input)"""
    return like(call, input, dtype=dtype)


@op("torch.full_like")
def full_like(call: Call, input: Value, fill_value: Value, *, dtype: Value = NONE, **options: Value) -> Value:
    """torch.full_like(input, fill_value)"""
    return like(call, input, dtype=dtype)


@op("torch.Tensor.new_zeros", "torch.Tensor.new_ones", "torch.Tensor.new_empty")
def new_zeros(call: Call, self: Value, *size: Value, dtype: Value = NONE, **named: Value) -> Value:
    """torch.Tensor.new_zeros(size)"""
    return like(call, self, size_given(call, size, named), dtype)


@op("torch.Tensor.new")
def new(call: Call, self: Value, *size: Value, **named: Value) -> Value:
    """torch.Tensor.new(*size), the old form of new_empty and new_tensor"""
    return _legacy(call, size, named, kind_of(self))


@op("torch.Tensor.new_full")
def new_full(
    call: Call, self: Value, size: Value, fill_value: Value, *, dtype: Value = NONE, **options: Value
) -> Value:
    """torch.Tensor.new_full(size, fill_value)"""
    return like(call, self, shape_from(call, size), dtype)


@op("torch.Tensor.new_empty_strided")
def new_empty_strided(call: Call, self: Value, size: Value, stride: Value, *, dtype: Value = NONE, **_: Value) -> Value:
    """torch.Tensor.new_empty_strided(size, stride)"""
    return like(call, self, shape_from(call, size), dtype)


@op("torch.tensor", "torch.as_tensor", "torch.asarray", "torch.scalar_tensor")
def tensor(call: Call, data: Value, dtype: Value = NONE, **options: Value) -> Value:
    """torch.tensor(data, *, dtype=None): the elements of small lists are remembered."""
    kind = asked_kind(call, dtype, element_kind(call, data))
    require_forward(call, data)
    shape = call.shape(_read(call, data))
    learned = options.get("requires_grad", FALSE) != FALSE  # an optimizer changes it
    content = None if learned else held(call, nested(call, data), kind, dtype)
    return Tensor("torch", shape, kind, content=content)


def _read(call: Call, data: Value) -> Value:
    """Data as torch reads it: tensors that stand in sequences are numbers, whatever axes of size 1 they have."""
    require_even(call, data)
    return _as_rows(call, data)


def _as_rows(call: Call, data: Value) -> Value:
    if isinstance(data, Tensor):
        return data
    items = call.items(data) if isinstance(data, Tup | Ref) else None
    if items is not None:
        return Tup(tuple(_number(item) or _as_rows(call, item) for item in items))
    record = call.world.record(data) if isinstance(data, Ref) else None
    if isinstance(record, ListRecord) and record.item is not None:
        return Many(_number(record.item) or _as_rows(call, record.item), length=record.length)
    return data


def _number(item: Value) -> Value | None:
    return Prim(item.dtype or "float") if isinstance(item, Tensor) and item.lib == "torch" else None


def _is_size(call: Call, value: Value) -> bool:
    """Whether the old constructors take a value for a size: integers, those of NumPy too."""
    if isinstance(value, Tensor):
        return value.lib == "numpy" and call.shape(value).rank == 0
    return isinstance(value, Const | Num | Prim | ShapeSeq) or (isinstance(value, Tup) and value.kind in SHAPE_KINDS)


@op(
    "torch.Tensor",
    *(f"torch.{name}Tensor" for name in TENSOR_TYPES),
    *(f"torch.cuda.{name}Tensor" for name in TENSOR_TYPES),
)
def typed(call: Call, *data: Value, **options: Value) -> Value:
    """torch.Tensor(2, 3), torch.FloatTensor([1.0, 2.0]): sizes as integers, or data"""
    kind = tensor_type(call.name) if call.name != "torch.Tensor" else "float"
    return _legacy(call, data, options, kind)


def _legacy(call: Call, data: tuple[Value, ...], named: dict[str, Value], kind: str | None) -> Value:
    if "size" in named:
        return call.tensor(shape_from(call, named["size"]), kind)
    data += tuple(value for name, value in named.items() if name in ("data", "other"))
    if not data:
        return call.tensor(Shape.of(0), kind)
    if len(data) > 1:
        return call.tensor(of_items(call, data), kind)
    if isinstance(data[0], Tensor) and _is_size(call, data[0]):
        return call.tensor([call.dim(data[0])], kind)
    if _is_size(call, data[0]):
        return call.tensor(shape_from(call, data[0]), kind)
    if isinstance(data[0], Opaque | Expr | Union):
        return call.unranked(kind)
    require_forward(call, data[0])
    return call.tensor(call.shape(_read(call, data[0])), kind)


@op("torch.Tensor.new_tensor")
def new_tensor(call: Call, self: Value, data: Value, *, dtype: Value = NONE, **options: Value) -> Value:
    """torch.Tensor.new_tensor(data)"""
    return tensor(call, data, dtype)


@op("torch.from_numpy", "torch.from_dlpack", "torch.utils.dlpack.from_dlpack")
def from_numpy(call: Call, ndarray: Value, **options: Value) -> Value:
    """torch.from_numpy(ndarray)"""
    kind = kind_of(ndarray)
    require_forward(call, ndarray)
    return Tensor("torch", call.shape(ndarray), kind, content=kept(call, ndarray, kind))


@op("torch.frombuffer")
def frombuffer(call: Call, buffer: Value, *, dtype: Value, count: Value = NONE, **options: Value) -> Value:
    """torch.frombuffer(buffer, *, dtype)"""
    return call.tensor([call.symbol("length")], asked_kind(call, dtype, None))


@op("torch.arange")
def arange(
    call: Call,
    start: Value = ZERO,
    end: Value | None = None,
    step: Value = ONE,
    *,
    out: Value = NONE,
    dtype: Value = NONE,
    **options: Value,
) -> Value:
    """torch.arange(start=0, end, step=1)"""
    first, last = (ZERO, start) if end is None else (start, end)
    kind = asked_kind(call, dtype, range_kind(call, first, last, step))
    length = range_length(call, first, last, step)
    made = call.tensor([length if length is None else nonnegative(call, length, "the length")], kind)
    content = held(call, range_content(call, first, last, step), kind, dtype)
    largest = range_largest(call, first, last, step, dtype) if content is None and kind == "int" else None
    row = length if kind == "int" and first == ZERO and step == ONE else None
    return into(call, replace(made, content=content, largest=largest, places=row), out)


@op("torch.range")
def range_closed(call: Call, start: Value = ZERO, end: Value = ZERO, step: Value = ONE, **options: Value) -> Value:
    """torch.range(start=0, end, step=1), which includes the end"""
    length = range_length(call, start, end, step)
    exact = length if step == ONE and call.dim(start) is not None and call.dim(end) is not None else None
    return call.tensor([None if exact is None else exact + 1], "float")


@op("torch.linspace", "torch.logspace")
def linspace(
    call: Call,
    start: Value,
    end: Value,
    steps: Value = Const(100),
    *args: Value,
    out: Value = NONE,
    dtype: Value = NONE,
    **options: Value,
) -> Value:
    """torch.linspace(start, end, steps), torch.logspace(start, end, steps, base=10.0)"""
    rank = max(call.shape(v).rank or 0 for v in (start, end))
    kind = asked_kind(call, dtype, None if "complex" in (kind_of(start), kind_of(end)) else "float")
    if rank:
        return call.unranked(kind)
    made = call.tensor([nonnegative(call, call.dim(steps), "the number of steps")], kind)
    plain = call.name.endswith("linspace") and not args
    content = held(call, spaced(call, start, end, steps), kind, dtype) if plain else None
    return into(call, replace(made, content=content), out)


@op("torch.eye")
def eye(call: Call, n: Value, m: Value = NONE, *, out: Value = NONE, dtype: Value = NONE, **options: Value) -> Value:
    """torch.eye(n, m=n)"""
    rows = nonnegative(call, call.dim(n))
    columns = rows if m == NONE else nonnegative(call, call.dim(m))
    return into(call, call.tensor([rows, columns], asked_kind(call, dtype, "float")), out)


@op(*(f"torch.{name}_window" for name in ("hann", "hamming", "bartlett", "blackman", "kaiser")))
def window(call: Call, window_length: Value, *args: Value, dtype: Value = NONE, **options: Value) -> Value:
    """torch.hann_window(window_length)"""
    return call.tensor([nonnegative(call, call.dim(window_length))], asked_kind(call, dtype, "float"))


@op("torch.complex", "torch.polar")
def complex_of(call: Call, real: Value, imag: Value = NONE, *, out: Value = NONE, **named: Value) -> Value:
    """torch.complex(real, imag), torch.polar(abs, angle)"""
    other = imag if imag != NONE else named.get("angle", NONE)
    return into(
        call, call.tensor(call.broadcast(call.shape(real), call.shape(other), message=call.text), "complex"), out
    )


@op("torch.tril_indices", "torch.triu_indices")
def tril_indices(call: Call, row: Value, col: Value, offset: Value = ZERO, **options: Value) -> Value:
    """torch.tril_indices(row, col, offset=0)"""
    sizes = [call.dim(v) for v in (row, col, offset)]
    numbers = [None if d is None else d.constant for d in sizes]
    if None in numbers:
        return call.tensor([2, None], "int")
    rows, columns, shift = (n or 0 for n in numbers)
    lower = sum(min(max(i + 1 + shift, 0), columns) for i in range(min(rows, 4096)))
    upper = sum(columns - min(max(i + shift, 0), columns) for i in range(min(rows, 4096)))
    return call.tensor([2, None if rows > 4096 else lower if "tril" in call.name else upper], "int")


@op("torch.Tensor.fill_diagonal_")
def fill_diagonal(call: Call, self: Value, fill_value: Value, wrap: Value = FALSE) -> Value:
    """torch.Tensor.fill_diagonal_(fill_value, wrap=False)"""
    shape = call.facts.at_least(call.shape(self), 2)
    if shape is None:
        call.fail("SHP301", f"{call.text} needs at least 2 axes, gets {call.show(self)}")
    return written(call, self)


@op("torch.vander")
def vander(call: Call, x: Value, N: Value = NONE, increasing: Value = FALSE) -> Value:
    """torch.vander(x, N=None)"""
    shape = call.of_rank(call.shape(x), 1)
    return call.tensor([shape.head[0], shape.head[0] if N == NONE else call.dim(N)])
