"""What layer constructors have in common: sizes, per-axis parameters, weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE
from distml.ops.rules.sizes import no_integer, nonnegative
from distml.shapes import Dim, Shape
from distml.values import Const, Num, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call

Axes = tuple[Dim | None, ...]


def size(call: Call, value: Value, name: str, least: int = 0) -> Dim:
    """A constructor's size as a dimension; a new symbol when it is not known.

    Fails with SHP603 on what is certainly no integer and on a number that is certainly below `least`.
    """
    wrong = None if _reads_as_integer(value) else no_integer(value)
    if wrong is not None:
        call.fail("SHP603", f"{call.text}: {name} must be an integer, gets {wrong[0]}", hint=wrong[1])
    dim = call.dim(value)
    if dim is None:
        return call.symbol(name)
    high = (-dim).low
    if least and high is not None and high > -least:
        call.fail("SHP603", f"{call.text}: {name} must be at least {least}, gets {dim}", *call.notes(dim))
    # A layer of no channels can be made, but nobody means one: an unknown size is at least 1.
    return call.facts.nonnegative(nonnegative(call, dim, name), 1)


def _reads_as_integer(value: Value) -> bool:
    """Whether a text is that of a number, which Keras 2 reads."""
    return isinstance(value, Const) and isinstance(value.value, str) and value.value.strip().lstrip("+-").isdigit()


def attribute_of(call: Call, value: Value, dim: Dim) -> Value:
    """A size as the layer keeps it: as it was given, or as the number it stands for."""
    return value if isinstance(value, Const | Num) else call.number(dim)


def per_axis(call: Call, value: Value, count: int) -> Axes:
    """A per-axis parameter, None for every axis that is not known."""
    return call.per_axis(value, count) or (None,) * count


def per_axis_attribute(call: Call, value: Value, count: int) -> Value:
    """A per-axis parameter as the layer keeps it: one number an axis where it is known."""
    if call.items(value) is not None:
        return value
    axes = call.per_axis(value, count)
    if axes is None:
        return value
    return Tup(tuple(value if a is None else call.number(a) for a in axes))


def parameter(call: Call, dims: Sequence[Dim], dtype: str | None = "float") -> Tensor:
    """A weight of a layer."""
    return Tensor("torch", Shape(tuple(call.small(d) for d in dims)), dtype, parameter=True)


def optional(call: Call, wanted: Value, value: Value) -> Value:
    """`value` if the flag `wanted` is set, else None; either if that is unknown."""
    flag = call.flag(wanted)
    if flag is None:
        return call.any_of(value, NONE)
    return value if flag else NONE


def given(call: Call, attrs: dict[str, Value], name: str) -> Value:
    """The attribute of a layer, unknown where the program has taken it away."""
    return attrs[name] if name in attrs else call.unknown(name)


def known_shape(call: Call, value: Value) -> Shape | None:
    """The shape of an optional argument; None when it is None or may be."""
    return None if call.is_none(value) is not False else call.shape(value)


def floating(call: Call, value: Value) -> str | None:
    """The kind a layer with float weights gives for an input."""
    return call.dtype(value) or "float"
