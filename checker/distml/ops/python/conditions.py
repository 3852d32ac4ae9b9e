"""Comparisons of sizes as formulas, for what `comparing` cannot decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.python.ratios import quotient_of
from distml.solver.formula import FALSE, at_least, both, either, equal, less, negate
from distml.values import Range, Ref, ShapeSeq, Tup

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.solver.formula import Formula
    from distml.values import Value


MAX_ITEMS = 64
"""A container of more items is not written out."""


def condition(call: Call, op: str, left: Value, right: Value) -> Formula | None:
    """`left op right` for `== != < <= > >= in` on integers, quotients of integers and tuples of them; None for others."""
    if op == "in":
        return _among(call, left, right)
    if op == "!=":
        same = condition(call, "==", left, right)
        return None if same is None else negate(same)
    if op == "==" and isinstance(left, Tup | ShapeSeq) and isinstance(right, Tup | ShapeSeq):
        return _same_items(call, left, right)
    a, b = quotient_of(call, left), quotient_of(call, right)
    if a is None or b is None or not all(d.low is not None and d.low > 0 for d in (a[1], b[1])):
        return None
    one, other = a[0] * b[1], b[0] * a[1]
    if op == "==":
        return equal(one, other)
    if op in ("<", ">"):
        return less(one, other) if op == "<" else less(other, one)
    return at_least(other, one) if op == "<=" else at_least(one, other)


def _among(call: Call, item: Value, container: Value) -> Formula | None:
    items = call.items(container) if isinstance(container, Tup | ShapeSeq | Ref | Range) else None
    if items is None or len(items) > MAX_ITEMS:
        return None
    parts = [condition(call, "==", item, other) for other in items]
    return None if None in parts else either(*(p for p in parts if p is not None))


def _same_items(call: Call, left: Value, right: Value) -> Formula | None:
    a, b = call.items(left), call.items(right)
    if a is None or b is None:
        return None
    if len(a) != len(b):
        return FALSE
    parts = [condition(call, "==", x, y) for x, y in zip(a, b, strict=True)]
    return None if None in parts else both(*(p for p in parts if p is not None))
