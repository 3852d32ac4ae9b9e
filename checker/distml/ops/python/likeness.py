"""Values that are like another, and one value that covers several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.arraylike import common
from distml.shapes import Dim, Middle, Shape, Symbol
from distml.values import (
    Const,
    Expr,
    Num,
    Opaque,
    Prim,
    Range,
    Ratio,
    Ref,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
    union,
)
from distml.values.model import MAX_ALTERNATIVES

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from distml.ops.call import Call


def either(call: Call, values: Sequence[Value], name: str = "item") -> Value:
    """One of `values`: a union while they are few, else one value that covers them all."""
    if not values:
        return call.unknown(name)
    merged = union(tuple(values))
    if not isinstance(merged, Union) or len(merged.options) <= MAX_ALTERNATIVES:
        return merged
    return _cover(call, merged.options, name)


def _cover(call: Call, options: Sequence[Value], name: str) -> Value:
    if all(kind_of(option) in ("int", "bool") for option in options):
        lows = [low_of(call, option) for option in options]
        known = [low for low in lows if low is not None]
        return Num(call.symbol(name, min(known) if len(known) == len(lows) else None))
    kinds = {kind_of(option) for option in options}
    if len(kinds) == 1 and None not in kinds:
        return Prim(str(kinds.pop()))
    tensors = [option for option in options if isinstance(option, Tensor)]
    if len(tensors) == len(options) and len({tensor.lib for tensor in tensors}) == 1:
        dtypes = {tensor.dtype for tensor in tensors}
        shape = common(call, [call.shape(tensor) for tensor in tensors])
        width = tensors[0].agreed(*tensors[1:]).width
        return Tensor(tensors[0].lib, shape, dtypes.pop() if len(dtypes) == 1 else None, width=width)
    tuples = [option for option in options if isinstance(option, Tup)]
    if len(tuples) == len(options) and len({(len(t.items), t.kind, t.fields) for t in tuples}) == 1:
        columns = zip(*(t.items for t in tuples), strict=True)
        items = tuple(either(call, list(dict.fromkeys(column)), name) for column in columns)
        return Tup(items, tuples[0].kind, tuples[0].fields, tuples[0].cls)
    objects = [option for option in options if isinstance(option, Ref)]
    alike = call.world.any_of_alike(objects) if len(objects) == len(options) else None
    return call.unknown(name) if alike is None else alike


def kind_of(value: Value) -> str | None:
    """The primitive type of a value: "int", "float", "str" ...; None when it has or is known to have none."""
    if isinstance(value, Const):
        kind = type(value.value).__name__
        return kind if kind in ("int", "bool", "float", "complex", "str", "bytes") else None
    if isinstance(value, Num):
        return "int"
    return value.kind if isinstance(value, Prim) else None


def is_number(value: Value) -> bool:
    """Whether a value is certainly a number of Python's own."""
    return kind_of(value) in ("int", "bool", "float", "complex")


def low_of(call: Call, value: Value) -> int | None:
    """A lower bound of an integer."""
    if isinstance(value, Const) and isinstance(value.value, int):
        return int(value.value)
    if isinstance(value, Prim) and value.kind == "bool":
        return 0
    return call.facts.dim(value.dim).low if isinstance(value, Num) else None


def shown(value: Value) -> str:
    """A value as it may be written: `dim * 4.0`."""
    if isinstance(value, Expr):
        sides = [f"({shown(side)})" if isinstance(side, Expr) else shown(side) for side in (value.left, value.right)]
        return f"{sides[0]} {value.op} {sides[1]}"
    if isinstance(value, Opaque):
        return value.name
    if isinstance(value, Ratio):
        return f"{_grouped(value.numerator)} / {_grouped(value.denominator)}"
    return repr(value.dim) if isinstance(value, Num) else repr(value)


def _grouped(dim: Dim) -> str:
    return f"({dim})" if len(dim.terms) > 1 else f"{dim}"


def remembered(call: Call, key: tuple[Hashable, ...], low: int | None = None, name: str | None = None) -> Num:
    """An unknown integer that is the same one whenever it is computed from the same things."""
    dim = call.world.get(key)
    if dim is None:
        dim = call.symbol(name or call.text, low)
        call.world.put(key, dim)
    return Num(dim)


def shaped_like(call: Call, value: Value) -> Opaque:
    """An unknown value that has the shape of another, if that one is an array."""
    result = call.unknown()
    call.world.put(("shape", result), call.shape(value))
    return result


def fresh(call: Call, value: Value) -> Value:
    """Another value like `value`: what is unknown in it is unknown anew.

    What stands for each item of a sequence of unknown length is a pattern: two
    items read from it must not be taken for one and the same.
    """
    return _Renaming(call).value(value)


class _Renaming:
    """Replaces unknowns by new ones, the same by the same."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.symbols: dict[Symbol, Dim] = {}
        self.opaque: dict[Opaque, Opaque] = {}

    def value(self, value: Value) -> Value:
        if isinstance(value, Opaque):
            return self.opaque.setdefault(value, self.call.unknown(value.name))
        if isinstance(value, Num):
            return self.call.number(self.dim(value.dim))
        if isinstance(value, Ratio):
            return Prim(value.kind)
        if isinstance(value, Expr):
            return Expr(value.op, self.value(value.left), self.value(value.right))
        if isinstance(value, Tensor):
            return Tensor(value.lib, self.shape(value.shape), value.dtype, value.parameter, width=value.width)
        if isinstance(value, ShapeSeq):
            return ShapeSeq(self.shape(value.shape), value.lib)
        if isinstance(value, Tup):
            return Tup(tuple(self.value(item) for item in value.items), value.kind, value.fields, value.cls)
        if isinstance(value, Union):
            return union(tuple(self.value(option) for option in value.options))
        if isinstance(value, Range):
            return Range(self.value(value.start), self.value(value.stop), self.value(value.step))
        return value

    def dim(self, dim: Dim) -> Dim:
        dim = self.call.facts.dim(dim)
        for symbol in dim.symbols():
            if symbol not in self.symbols:
                self.symbols[symbol] = self.call.symbol(symbol.name, symbol.low, symbol.high)
        return dim.substitute(self.symbols)

    def shape(self, shape: Shape) -> Shape:
        shape = self.call.facts.shape(shape)
        if shape.middle is None:
            return shape.map(self.dim(dim) for dim in shape.head)
        dims = [self.dim(dim) for dim in shape.head + shape.tail]
        middle = Middle(shape.middle.name, self.call.world.serial())
        count = len(shape.head)
        return Shape(tuple(dims[:count]), middle, tuple(dims[count:]), shape.least)
