"""Normalization: over the batch, the channels in groups, or the last axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.layers import known_shape
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from distml.ops.call import Call
    from distml.values import Value


def per_channel(call: Call, input: Shape, axis: int, vectors: Mapping[str, Value]) -> Shape:
    """Each of `vectors` that is given has one number for every channel (SHP402)."""
    for name, value in vectors.items():
        shape = known_shape(call, value)
        if shape is None:
            continue
        shape = call.of_rank(shape, 1, what=f"a {name}")
        needs, gets = call.facts.axis(shape, 0), call.facts.axis(input, axis)
        require_channels(call, input, needs, gets)
    return call.facts.shape(input)


def require_channels(call: Call, input: Shape, needs: Dim | None, gets: Dim | None) -> None:
    """The channels of the input are those the layer was made for (SHP402)."""
    dims = call.facts.shape(input).dims
    hint = None
    if dims is not None and needs is not None and gets is not None and needs.differs(gets):
        at = [axis for axis, dim in enumerate(dims) if axis and dim == needs]
        if len(at) == 1:
            hint = f"the channels are on axis {at[0]}: transpose the input"
        elif gets.constant is not None:
            hint = f"set the number of features of {call.text} to {gets}"
    call.require_equal(
        needs,
        gets,
        "SHP402",
        f"{call.text} needs {{left}} channels, gets {{right}} (input {call.show(input)})",
        hint=hint,
    )


def batch_norm(call: Call, input: Shape, ranks: tuple[int, ...], vectors: Mapping[str, Value]) -> Shape:
    """torch.nn.functional.batch_norm: axis 1 are the channels; `ranks` are allowed, any from 2 if empty."""
    input = call.of_rank(input, *ranks, what="an input") if ranks else require_two_axes(call, input)
    return per_channel(call, input, 1, vectors)


def require_two_axes(call: Call, input: Shape) -> Shape:
    """The input has a batch and a channel axis."""
    known = call.facts.at_least(input, 2)
    dims = call.facts.shape(input).dims
    if known is None and dims and not dims[0].is_nonzero:
        # An empty vector is let through as it is.
        return input
    if known is None:
        call.fail("SHP301", f"{call.text} needs an input with at least 2 axes, gets {call.show(input)}")
    return known


def require_values(call: Call, input: Shape, dims: Sequence[Dim], what: str) -> None:
    """There is more than one value to take a mean and a deviation of (SHP311)."""
    if all(call.facts.dim(dim) == 1 for dim in dims):
        call.fail(
            "SHP311",
            f"{call.text} normalizes each {what} by its own values, and in the input {call.show(input)} there is only one",
            *call.notes(*dims),
            hint="give it more than one, or call .eval() before where only one is expected"
            if what == "channel"
            else None,
        )


def group_norm(call: Call, input: Shape, groups: Value, vectors: Mapping[str, Value]) -> Shape:
    """torch.nn.functional.group_norm: the channels of axis 1 fall into equal groups."""
    input = per_channel(call, require_two_axes(call, input), 1, vectors)
    message = f"{call.text}: {{dim}} channels are not divisible by {{by}} groups"
    channels, divisor = call.facts.axis(input, 1), call.dim(groups)
    call.require_divisible(channels, divisor, "SHP404", message)
    if input.dims is not None and channels is not None and divisor is not None:
        require_values(call, input, (input.dims[0], channels // divisor, *input.dims[2:]), "group")
    return input


def last_axes(call: Call, input: Shape, normalized: tuple[Dim | None, ...] | None) -> Shape:
    """The input ends in the normalized shape (layer and RMS normalization, SHP401)."""
    if normalized is None:
        return call.facts.shape(input)
    known = call.facts.at_least(input, len(normalized))
    if known is None:
        call.fail(
            "SHP401",
            f"{call.text} normalizes the last {len(normalized)} axes, the input {call.show(input)} has fewer",
        )
    for back, needs in enumerate(reversed(normalized), start=1):
        gets = call.facts.axis(known, -back)
        place = "the last axis" if back == 1 else f"axis -{back}"
        call.require_equal(
            needs,
            gets,
            "SHP401",
            f"{call.text} needs {{left}} features on {place}, gets {{right}} (input {call.show(known)})",
            hint=_hint(call, known, needs, len(normalized)),
        )
    return call.facts.shape(known)


def _hint(call: Call, input: Shape, needs: Dim | None, count: int) -> str | None:
    dims = call.facts.shape(input).dims
    if dims is None or count != 1 or needs is None:
        return None
    at = [axis for axis, dim in enumerate(dims) if dim == needs]
    return f"the axis of {needs} is axis {at[0]}: move it to the end" if len(at) == 1 else None


def same_vectors(call: Call, normalized: tuple[Dim | None, ...] | None, vectors: Mapping[str, Value]) -> None:
    """Weight and bias have the normalized shape."""
    if normalized is None or any(d is None for d in normalized):
        return
    wanted = Shape(tuple(d for d in normalized if d is not None))
    for name, value in vectors.items():
        shape = known_shape(call, value)
        if shape is None:
            continue
        message = f"{call.text}: the {name} {call.show(shape)} needs the normalized shape {wanted!r}"
        learned = call.facts.of_rank(shape, len(normalized))
        if learned is None or learned.dims is None:
            call.fail("SHP401", message)
        for a, b in zip(wanted.head, learned.dims, strict=True):
            call.require_equal(a, b, "SHP401", message)
