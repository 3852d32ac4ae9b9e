"""Whether an abstract value covers a real Python object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distml.shapes import Dim, Facts, Symbol
from distml.values import (
    Const,
    DictRecord,
    Expr,
    IteratorRecord,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Range,
    Ratio,
    Ref,
    SetRecord,
    ShapeSeq,
    Slice,
    Tup,
    Union,
    Value,
)

from ops.world import ScratchWorld

Env = Mapping[Symbol, int]


def covers(world: ScratchWorld, value: Value | None, real: Any, env: Env) -> bool:
    """Whether `real` is one of the objects `value` stands for, each symbol having its value of `env`."""
    if value is None or isinstance(value, Opaque | Expr):
        return True
    if isinstance(value, Union):
        return any(covers(world, option, real, env) for option in value.options)
    if isinstance(value, Const):
        return type(value.value) is type(real) and value == Const(real)
    if isinstance(value, Num):
        return isinstance(real, int) and dim_covers(world, value.dim, real, env)
    if isinstance(value, Ratio):
        return isinstance(real, float) and _ratio(world, value, real, env)
    if isinstance(value, Prim):
        return type(real).__name__ == value.kind
    if isinstance(value, Tup):
        return hasattr(real, "__iter__") and _all(world, value.items, real, env)
    if isinstance(value, Many):
        if not hasattr(real, "__iter__"):
            return False
        items = list(real)
        length = value.length is None or dim_covers(world, value.length, len(items), env)
        return length and all(covers(world, value.item, item, env) for item in items)
    if isinstance(value, Range):
        return all(covers(world, v, getattr(real, n), env) for n, v in _parts(value).items())
    if isinstance(value, Slice):
        return all(covers(world, v, getattr(real, n), env) for n, v in _parts(value).items())
    if isinstance(value, ShapeSeq):
        return isinstance(real, tuple)
    return isinstance(value, Ref) and _record(world, value, real, env)


def _parts(value: Range | Slice) -> dict[str, Value]:
    return {"start": value.start, "stop": value.stop, "step": value.step}


def dim_covers(world: ScratchWorld, dim: Dim, real: int, env: Env) -> bool:
    """Whether a dimension can be `real`."""
    dim = Facts(world).dim(dim)
    known = dim.substitute({symbol: Dim.of(value) for symbol, value in env.items()})
    if known.constant is not None:
        return known.constant == real
    if any(symbol in env for symbol in known.symbols()):
        return True  # a division by zero that Python would have raised for
    difference = known - real
    return not difference.is_nonzero


def _ratio(world: ScratchWorld, value: Ratio, real: float, env: Env) -> bool:
    known = {symbol: Dim.of(number) for symbol, number in env.items()}
    above, below = (Facts(world).dim(d).substitute(known).constant for d in (value.numerator, value.denominator))
    if above is None or below is None or below == 0:
        return True
    return above / below == real


def _all(world: ScratchWorld, items: tuple[Value, ...], real: Any, env: Env) -> bool:
    found = list(real)
    return len(items) == len(found) and all(covers(world, a, b, env) for a, b in zip(items, found, strict=True))


def _record(world: ScratchWorld, ref: Ref, real: Any, env: Env) -> bool:
    record = world.record(ref)
    if not hasattr(real, "__iter__"):
        return False
    if isinstance(record, DictRecord):
        return _dict(world, record, real, env)
    if isinstance(record, SetRecord):
        items = list(real)
        if record.items is not None:
            return len(items) == len(record.items) and all(
                any(covers(world, a, b, env) for a in record.items) for b in items
            )
        return all(covers(world, record.item, item, env) for item in items)
    if isinstance(record, ListRecord | IteratorRecord):
        items = list(real)
        if record.items is not None:
            return _all(world, record.items, items, env)
        length = record.length is None or dim_covers(world, record.length, len(items), env)
        return length and all(covers(world, record.item, item, env) for item in items)
    return True


def _dict(world: ScratchWorld, record: DictRecord, real: dict[Any, Any], env: Env) -> bool:
    for key, value in real.items():
        known = next((k for k in record.items if k.value == key), None)
        if known is None:
            if record.exact or not covers(world, record.rest, value, env):
                return False
        elif not covers(world, record.items[known], value, env):
            return False
    return all(any(key.value == k for k in real) for key in record.items)
