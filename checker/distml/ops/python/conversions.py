"""The built-in types called as functions: `int(x)`, `float(x)`, `list(xs)`, `dict(a=1)` and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ZERO, Call
from distml.ops.python.dicts import dict_from
from distml.ops.python.folding import compute, format_is_small
from distml.ops.python.iterating import as_list, as_tuple, drawn, item_of
from distml.ops.python.joined import merged
from distml.ops.python.likeness import kind_of, remembered, shown
from distml.ops.registry import op
from distml.ops.rules.elements import as_whole, plain
from distml.ops.rules.one_value import require_number, require_scalar, require_truth
from distml.shapes import Dim
from distml.values import (
    Const,
    DictRecord,
    Expr,
    Many,
    Num,
    Opaque,
    Prim,
    Ratio,
    SetRecord,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
    as_bool,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@op("builtins.int", "math.trunc", "operator.index", "builtins.int.__int__", "builtins.float.__int__")
def int_(call: Call, x: Value = ZERO, /, base: Value | None = None) -> Value:
    """int(x, base): https://docs.python.org/3/library/functions.html#int"""
    if isinstance(x, Union):
        return union([int_(call, option, base) for option in x.options])
    if isinstance(x, Const):
        known = compute(call, int, x) if base is None else compute(call, int, x, base)
        return Num(call.symbol("int", None)) if known is None else _placed(known, x)
    whole = as_whole(call, x)
    if whole is not None:
        return whole
    if isinstance(x, Tensor):
        require_number(call, x)
        if x.number is not None:
            return int_(call, x.number)
    if isinstance(x, Opaque | Expr | Ratio):
        # The same unknown value has the same integer part each time.
        return remembered(call, ("int", x), None, f"int({shown(x)})")
    return Num(call.symbol("int", 0 if kind_of(x) == "bool" else None))


def _placed(known: Value, source: Const) -> Value:
    return Const(known.value, source.origin) if isinstance(known, Const) else known


@op("builtins.float", "builtins.float.__float__", "builtins.int.__float__")
def float_(call: Call, x: Value = ZERO, /) -> Value:
    """float(x): https://docs.python.org/3/library/functions.html#float"""
    if isinstance(x, Const):
        return compute(call, float, x) or Prim("float")
    if isinstance(x, Num):
        return Ratio("float", call.facts.dim(x.dim), Dim.of(1))
    require_number(call, x)
    if isinstance(x, Tensor) and x.number is not None:
        return float_(call, plain(x.number))
    return x if isinstance(x, Ratio) else Prim("float")


@op("builtins.complex")
def complex_(call: Call, real: Value = ZERO, imag: Value = ZERO) -> Value:
    """complex(real, imag): https://docs.python.org/3/library/functions.html#complex"""
    require_number(call, real)
    return compute(call, complex, real, imag) or Prim("complex")


@op("builtins.bool", "operator.truth")
def bool_(call: Call, x: Value = FALSE, /) -> Value:
    """bool(x): https://docs.python.org/3/library/functions.html#bool"""
    require_truth(call, x)
    truth = call.world.truth(x)
    return as_bool(truth)


@op("builtins.str")
def str_(call: Call, object: Value = Const(""), encoding: Value = NONE, errors: Value = NONE) -> Value:
    """str(object): https://docs.python.org/3/library/stdtypes.html#str"""
    return _text(call, str, object)


@op("builtins.repr", "builtins.int.__repr__", "builtins.str.__repr__")
def repr_(call: Call, object: Value, /) -> Value:
    """repr(object): https://docs.python.org/3/library/functions.html#repr"""
    return _text(call, repr, object)


def _text(call: Call, function: Callable[..., str], value: Value) -> Value:
    plain = isinstance(value, Const) or (isinstance(value, Tup) and not value.fields and value.kind == "tuple")
    return (compute(call, function, value) if plain else None) or Prim("str")


@op("builtins.format")
def format_(call: Call, value: Value, format_spec: Value = Const(""), /) -> Value:
    """format(value, format_spec): https://docs.python.org/3/library/functions.html#format"""
    spec = call.const(format_spec, str)
    require_scalar(call, value, spec if isinstance(spec, str) else "")
    small = isinstance(spec, str) and format_is_small(spec)
    return (compute(call, format, value, format_spec) if small and isinstance(value, Const) else None) or Prim("str")


@op("builtins.bytes", "builtins.bytearray", "builtins.memoryview")
def bytes_(call: Call, source: Value = Const(b""), encoding: Value = NONE, errors: Value = NONE) -> Value:
    """bytes(source): https://docs.python.org/3/library/stdtypes.html#bytes"""
    if call.name != "builtins.bytes":
        return call.unknown()
    return source if isinstance(source, Const) and isinstance(source.value, bytes) else Prim("bytes")


@op("builtins.list")
def list_(call: Call, iterable: Value = Tup(()), /) -> Value:
    """list(iterable): https://docs.python.org/3/library/stdtypes.html#list"""
    return call.world.allocate(as_list(call, drawn(call, iterable)))


@op("builtins.tuple")
def tuple_(call: Call, iterable: Value = Tup(()), /) -> Value:
    """tuple(iterable): https://docs.python.org/3/library/stdtypes.html#tuple"""
    if isinstance(iterable, Tup):
        return Tup(iterable.items)
    if isinstance(iterable, ShapeSeq):
        return iterable
    return as_tuple(call, drawn(call, iterable))


@op("builtins.set", "builtins.frozenset")
def set_(call: Call, iterable: Value = Tup(()), /) -> Value:
    """set(iterable): https://docs.python.org/3/library/stdtypes.html#set"""
    return call.world.allocate(set_from(call, drawn(call, iterable)))


def set_from(call: Call, values: tuple[Value, ...] | Many) -> SetRecord:
    """The set of some values: known when they are constants, else each may equal another."""
    if isinstance(values, tuple) and all(isinstance(value, Const) for value in values):
        distinct: dict[object, Value] = {}
        for value in values:
            distinct.setdefault(value.value if isinstance(value, Const) else value, value)
        return SetRecord(tuple(distinct.values()))
    if isinstance(values, tuple) and len(values) < 2:
        return SetRecord(values)
    return SetRecord(None, item_of(call, values))


@op("builtins.dict", "collections.OrderedDict")
def dict_(call: Call, mapping: Value | None = None, /, **named: Value) -> Value:
    """dict(mapping, **named): https://docs.python.org/3/library/stdtypes.html#dict"""
    record = DictRecord({}) if mapping is None else dict_from(call, mapping)
    extra = DictRecord({Const(name): value for name, value in named.items()})
    return call.world.allocate(merged(call, record, extra) if named else record)


@op("builtins.print", "builtins.breakpoint")
def print_(call: Call, *args: Value, **options: Value) -> Value:
    """print(*args): https://docs.python.org/3/library/functions.html#print"""
    return NONE


@op("builtins.input")
def input_(call: Call, prompt: Value = Const(""), /) -> Value:
    """input(prompt): https://docs.python.org/3/library/functions.html#input"""
    return Prim("str")
