"""numpy: what the ops here have in common: `out=`, and asking for shapes of array-likes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import Call
from distml.ops.rules.pointwise import fits_into
from distml.shapes import Dim, Shape
from distml.values import Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Sequence


def array(call: Call, shape: Shape | Sequence[Dim | int | None], dtype: str | None = None) -> Tensor:
    """An array of NumPy."""
    return call.tensor(shape, dtype)


def vector(call: Call, dtype: str | None = None, source: Value | None = None) -> Tensor:
    """A vector of a length that depends on the data, of which some are chosen where they are of one array."""
    return Tensor(call.lib, Shape((call.symbol("count") if source is None else call.chosen(source),)), dtype)


def into(call: Call, result: Tensor, out: Value) -> Value:
    """`out=` of ops that need exactly the result's shape; the result where there is none."""
    if call.is_none(out):
        return result
    target = out.items[0] if isinstance(out, Tup) and len(out.items) == 1 else out
    if not isinstance(target, Tensor):
        return target if call.is_none(target) is False else result
    wanted, given = call.facts.shape(result.shape), call.shape(target)
    if not wanted.may_equal(given):
        call.fail(
            "SHP305",
            f"{call.text}: the result {wanted!r} does not fit into out, which is {given!r}",
            *call.notes(*given.head, *wanted.head),
        )
    return target


def output(call: Call, result: Tensor, out: Value) -> Value:
    """`out=` of a ufunc, which the result broadcasts into; the result where there is none."""
    if call.is_none(out):
        return result
    target = out.items[0] if isinstance(out, Tup) and len(out.items) == 1 else out
    if not isinstance(target, Tensor):
        return result if call.is_none(target) else target
    fits_into(call, result.shape, call.shape(target))
    return target
