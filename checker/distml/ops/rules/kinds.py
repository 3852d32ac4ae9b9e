"""Kinds of elements ("bool", "int", "float", "complex"), as far as shapes need them: a mask is no index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.values import Const, ListRecord, Num, Prim, Ref, ShapeSeq, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distml.ops.call import Call

ORDER = {"bool": 0, "int": 1, "float": 2, "complex": 3}
"""In arithmetic the higher kind wins."""


def kind_of(value: Value) -> str | None:
    """The kind of a tensor or number, None when it is not known."""
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, Const):
        name = type(value.value).__name__
        return name if name in ORDER else None
    if isinstance(value, Num):
        return "int"
    return value.kind if isinstance(value, Prim) and value.kind in ORDER else None


def element_kind(call: Call, data: Value, depth: int = 0) -> str | None:
    """The kind of the array that is made of data: an array, a number, or a sequence of them."""
    record = call.world.record(data) if isinstance(data, Ref) else None
    if isinstance(data, ShapeSeq):
        return "int"
    if isinstance(record, ListRecord) and record.items is None:
        return None if record.item is None or depth > 8 else element_kind(call, record.item, depth + 1)
    items = call.items(data) if isinstance(data, Tup) or isinstance(record, ListRecord) else None
    if items is None or depth > 8:
        return kind_of(data)
    return promote(element_kind(call, item, depth + 1) for item in set(items)) if items else "float"


def promote(kinds: Iterable[str | None]) -> str | None:
    """The kind arithmetic on these kinds gives, None when one of them is unknown."""
    found = set(kinds) or {"bool"}
    if len(found) == 1:
        return found.pop()
    return None if None in found or not found <= ORDER.keys() else max(found, key=lambda kind: ORDER[kind or ""])


def floating(kind: str | None) -> str | None:
    """The kind of a result that is never an integer: a mean, a sine, a true quotient."""
    return kind if kind in (None, "complex") else "float"


def if_float(kind: str | None) -> str | None:
    """The kind of a result that has the kind of the input where that has floats; of integers it may be either."""
    return kind if kind in ("float", "complex") else None


def real(kind: str | None) -> str | None:
    """The kind of an absolute value or a real part."""
    return "float" if kind == "complex" else kind


def counted(kind: str | None) -> str | None:
    """The kind of a sum or product: truth values are counted."""
    return "int" if kind == "bool" else kind
