"""Linear maps of the last axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.axes import product, replace_axes
from distml.ops.rules.layers import known_shape
from distml.ops.rules.ranks import match
from distml.shapes import Dim, Shape
from distml.solver.formula import either, equal

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def linear(call: Call, input: Shape, weight: Shape, bias: Value, parameter: str | None = None) -> Shape:
    """The shape of `x @ weight.T + bias` (torch.nn.functional.linear).

    `parameter` is the constructor's name of the input size, for the hint.
    """
    weight = call.of_rank(weight, 1, 2, what="a weight")
    known = call.facts.at_least(input, 1)
    if known is None:
        call.fail("SHP301", f"{call.text} needs an input with at least 1 axis, gets a scalar")
    needs, gets = call.facts.axis(weight, -1), call.facts.axis(known, -1)
    call.require_equal(
        needs,
        gets,
        "SHP401",
        f"{call.text} needs {{left}} features on the last axis, gets {{right}} (input {call.show(input)})",
        hint=_hint(call, input, needs, gets, parameter),
    )
    if weight.dims is None:
        return call.facts.unknown_shape()
    _check_bias(call, weight.dims, bias)
    return with_last(call, input, *weight.dims[:-1])


def with_last(call: Call, shape: Shape, *last: Dim) -> Shape:
    """The shape with its last axis replaced; the same shape if that changes nothing.

    Of an unknown rank the same question gives the same answer, so that `q(x) + k(x)` meet.
    """
    shape = call.facts.shape(shape)
    if shape.dims is not None or len(last) != 1:
        return replace_axes(call, shape, -1, 1, last)
    if shape.tail[-1:] == last:
        return shape
    key = ("last", shape.middle, last)
    known: Shape | None = call.world.get(key)
    if known is None:
        known = replace_axes(call, shape, -1, 1, last)
        call.world.put(key, known)
    return call.facts.shape(known)


def bilinear(call: Call, left: Shape, right: Shape, weight: Shape) -> Shape:
    """The shape of `x1 A x2 + b` for each pair of rows (torch.nn.functional.bilinear)."""
    weight = call.of_rank(weight, 3, what="a weight")
    left, right = call.facts.shape(left), call.facts.shape(right)
    for number, (shape, axis) in enumerate(((left, 1), (right, 2)), start=1):
        call.require_equal(
            call.facts.axis(weight, axis),
            call.facts.axis(shape, -1),
            "SHP401",
            f"{call.text} needs {{left}} features on the last axis of input {number}, gets {{right}} "
            f"(input {call.show(shape)})",
        )
    if left.rank is not None and right.rank is not None and left.rank != right.rank:
        call.fail("SHP301", f"{call.text}: inputs {left!r} and {right!r} have different numbers of axes")
    if left.dims is not None and right.dims is not None:
        for a, b in zip(left.dims[:-1], right.dims[:-1], strict=True):
            match(
                call, a, b, "SHP104", f"{call.text}: batch axes of {left!r} and {right!r} differ: {{left}}, {{right}}"
            )
    out = call.facts.axis(weight, 0)
    return call.facts.unknown_shape() if out is None else with_last(call, left, out)


def _check_bias(call: Call, weight: tuple[Dim, ...], bias: Value) -> None:
    shape = known_shape(call, bias)
    if shape is None or shape.rank != 1 or len(weight) != 2:
        return
    size = shape.head[0]
    text = f"{call.text}: the bias has {size} features, the weight {weight[0]}"
    call.state(either(equal(size, weight[0]), equal(size, 1), equal(size, 0)), "SHP401", text)
    if size != 1 and size.is_nonzero and size.differs(weight[0]) and size.differs(1):
        call.fail("SHP401", text, *call.notes(size, weight[0]))


def _hint(call: Call, input: Shape, needs: Dim | None, gets: Dim | None, parameter: str | None) -> str | None:
    dims = call.facts.shape(input).dims
    if needs is None or gets is None or dims is None:
        return None
    if len(dims) > 2:
        flat = product(call, dims[1:])
        if flat == needs:
            return "flatten the axes behind the batch first: .flatten(1)"
        if len(dims) > 3 and flat.constant is not None and parameter:
            return f"flatten the input with .flatten(1) and set {parameter} to {flat}"
    elif len(dims) == 2 and dims[0] == needs:
        return "the axes are swapped: transpose the input"
    return f"set {parameter} to {gets}" if parameter and gets.constant is not None else None
