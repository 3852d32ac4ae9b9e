"""Kinds of elements ("bool", "int", "float", "complex"), as far as shapes need them: a mask is no index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.values import Const, Num, Prim, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

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
