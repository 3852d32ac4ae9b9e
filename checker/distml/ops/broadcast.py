"""Broadcasting: NumPy's rule, shared by every library here.

Axes are aligned from the back; two dimensions meet if they are equal or one of
them is 1. (NumPy user guide, "Broadcasting"; PyTorch notes, "Broadcasting semantics".)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.shapes import Dim, Shape
from distml.solver.formula import both, different, either, equal

if TYPE_CHECKING:
    from distml.ops.call import Call


def broadcast(call: Call, left: Shape, right: Shape, code: str = "SHP102", message: str | None = None) -> Shape:
    """The broadcast of two shapes; fails where two dimensions can never meet."""
    left, right = call.facts.shape(left), call.facts.shape(right)
    if left == right or right.rank == 0:
        return left
    if left.rank == 0:
        return right
    if left.dims is not None and right.dims is not None:
        return _known(call, left, right, code, message)
    return _unknown(call, left, right, code, message)


def meet(call: Call, left: Dim, right: Dim) -> Dim | None:
    """The dimension two broadcast dimensions give, None if they can never meet."""
    a, b = left.constant, right.constant
    if left == right or b == 1:
        return left
    if a == 1:
        return right
    if a is not None and b is not None:
        return None
    if left.differs(right) and left.differs(1) and right.differs(1):
        return None
    if a is not None:
        # The other one is a or 1; both give a.
        return left
    if b is not None:
        return right
    for one, other in ((left, right), (right, left)):
        # What is not 1 is the result, and so is the larger of the two.
        low = (one - other).low
        if one.differs(1) or (low is not None and low >= 0):
            return one
    return call.symbol("size")


def state_meeting(call: Call, left: Dim, right: Dim, code: str, text: str) -> None:
    """State that two dimensions are equal or one of them is 1."""
    call.state(either(equal(left, right), equal(left, 1), equal(right, 1)), code, text)


def _known(call: Call, left: Shape, right: Shape, code: str, message: str | None) -> Shape:
    longer, shorter = (left, right) if len(left.head) >= len(right.head) else (right, left)
    offset = len(longer.head) - len(shorter.head)
    dims = list(longer.head[:offset])
    for axis, dim in enumerate(shorter.head):
        dims.append(_pair(call, longer.head[offset + axis], dim, left, right, code, message))
    return Shape(tuple(dims))


def _unknown(call: Call, left: Shape, right: Shape, code: str, message: str | None) -> Shape:
    sides = [s.head if s.middle is None else s.tail for s in (left, right)]
    count = max(len(side) for side in sides)
    tail: list[Dim] = []
    for back in range(1, count + 1):
        here = [side[-back] for side in sides if len(side) >= back]
        if len(here) == 2:
            tail.append(_pair(call, here[0], here[1], left, right, code, message))
            continue
        # The other side may be shorter, or anything that meets this one.
        finished = [s for s in (left, right) if s.middle is None and len(s.head) < back]
        alone = here[0]
        keep = finished or (alone.constant is not None and alone.constant != 1)
        tail.append(alone if keep else call.symbol("size"))
    unknown = call.facts.unknown_shape()
    least = max(left.least, right.least)
    return Shape((), unknown.middle, tuple(reversed(tail)), least)


def _pair(call: Call, a: Dim, b: Dim, left: Shape, right: Shape, code: str, message: str | None) -> Dim:
    met = meet(call, a, b)
    if met is not None and call.world.watched:
        _demand(call, a, b, met, code, f"{message or call.text}: {a} meets {b}")
    if met is None:
        swapped = "" if message is None else f"{message}: "
        call.fail(
            code,
            f"{swapped}shapes {left!r} and {right!r} do not broadcast: {a} meets {b}",
            *call.notes(a, b),
            hint=_hint(left, right),
        )
    return met


def _demand(call: Call, a: Dim, b: Dim, met: Dim, code: str, text: str) -> None:
    """State what two dimensions that meet must be, and what they give."""
    one = Dim.of(1)
    if met in (a, b):
        other = b if met == a else a
        call.world.demand(either(equal(a, b), equal(other, one)), code, text)
        return
    state_meeting(call, a, b, code, text)
    call.world.demand(
        either(
            both(equal(a, one), equal(met, b)),
            both(different(a, one), either(equal(a, b), equal(b, one)), equal(met, a)),
        ),
        code,
        text,
    )


def _hint(left: Shape, right: Shape) -> str | None:
    """What would make the two broadcast, where one small change does."""
    if left.dims is None or right.dims is None:
        return None
    if len(left.dims) == 2 and left.dims == right.dims[::-1]:
        return "transpose one of them"
    long, short = (left.dims, right.dims) if len(left.dims) > len(right.dims) else (right.dims, left.dims)
    missing = len(long) - len(short)
    if missing and long[: len(short)] == short:
        aligned = Shape((*short, *(Dim.of(1) for _ in range(missing))))
        return f"give the {Shape(short)!r} {missing} more {'axis' if missing == 1 else 'axes'} at the end: {aligned!r}"
    return None
