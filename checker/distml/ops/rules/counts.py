"""Numbers of elements: exact division, and what to say when they do not fit."""

from __future__ import annotations

from functools import reduce
from math import gcd, prod
from typing import TYPE_CHECKING, NoReturn

from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call
    from distml.shapes.dim import Atom


def cancel(left: Dim, right: Dim) -> tuple[Dim, Dim]:
    """Both without their common factors: `400*b` and `256*b` become 25 and 16."""
    terms = [*left.terms, *right.terms]
    if not left.terms or not right.terms:
        return left, right
    common: dict[Atom, int] = dict(terms[0][0])
    for monomial, _ in terms[1:]:
        powers = dict(monomial)
        common = {a: min(p, powers[a]) for a, p in common.items() if a in powers}
    divisor = reduce(gcd, (coefficient for _, coefficient in terms))

    def reduced(dim: Dim) -> Dim:
        # Dividing every monomial by the same one keeps them distinct; only the order may change.
        parts = (
            (tuple((a, p - common.get(a, 0)) for a, p in m if p > common.get(a, 0)), c // divisor) for m, c in dim.terms
        )
        return sum((Dim((part,)) for part in parts), Dim.of(0)).at(dim.origin)

    return reduced(left), reduced(right)


def divide(count: Dim, by: Dim) -> Dim | None:
    """`count / by`, None if it can never be whole; `by` is taken not to be 0."""
    if by.constant == 0:
        return None
    count, by = cancel(count, by)
    whole = count // by
    return None if (count - whole * by).is_nonzero else whole


def asked(sizes: Sequence[Dim | None]) -> str:
    """Requested sizes as messages show them."""
    return f"[{', '.join('?' if d is None else repr(d) for d in sizes)}]"


def refuse_count(
    call: Call,
    shape: Shape,
    before: Dim,
    after: Dim,
    sizes: Sequence[Dim | None],
    holes: Sequence[int],
) -> NoReturn:
    """Fail with SHP201: `before` elements there are, `after` are asked for."""
    known = [d for d in sizes if d is not None]
    why = f": {before} is no multiple of {after}" if holes else f" ({after} elements)"
    call.fail(
        "SHP201",
        f"{call.text}: {shape!r} ({before} elements) cannot become {asked(sizes)}{why}",
        *call.notes(*(shape.dims or ()), *known),
        hint=_hint(shape, before, sizes, holes),
    )


def _hint(shape: Shape, before: Dim, sizes: Sequence[Dim | None], holes: Sequence[int]) -> str | None:
    dims = shape.dims or ()
    item = prod(dims[1:], start=Dim.of(1))
    if len(dims) > 2 and len(sizes) == 2 and item != 0 and (0 in holes or sizes[0] == dims[0]):
        factors = "*".join(repr(d) for d in dims[1:])
        return f"one of the {dims[0]} items has {item} elements ({factors}): use {item}, or flatten(1)"
    if holes:
        return None
    for place in _by_suspicion(dims, sizes):
        rest = [d for i, d in enumerate(sizes) if i != place and d is not None]
        others = prod(rest, start=Dim.of(1))
        if others.constant == 0 or len(rest) < len(sizes) - 1:
            continue
        fit = before // others
        if fit * others == before:
            return f"{_changed(sizes, place, fit)} would fit"
    return None


def _by_suspicion(dims: Sequence[Dim], sizes: Sequence[Dim | None]) -> list[int]:
    """The places most likely wrong first: sizes that the tensor does not have, from the back."""
    return sorted(range(len(sizes)), key=lambda i: (sizes[i] in dims, -i))


def _changed(sizes: Sequence[Dim | None], place: int, fit: Dim) -> str:
    return asked([fit if i == place else d for i, d in enumerate(sizes)])
