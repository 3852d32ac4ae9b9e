"""The axes of annotations as jaxtyping can check them.

jaxtyping checks parameters in order and axes from left to right. A name is bound where it stands alone; an expression
is evaluated at once and raises where a name in it is not bound yet, and nobody knows whether a parameter that may be
None has bound its names (https://docs.kidger.site/jaxtyping/api/array/).
"""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Iterator, Sequence

from distml.rewrites.model import Annotation
from distml.source.annotations_jaxtyping import parse_expression
from distml.source.annotations_model import Expression, Operation

Dim = str | int | None
_FRESH = ("k", "m", "p", "q", "s", "u", "v")


def normal(dim: Dim) -> Dim:
    """An axis without spaces: a size, a name, an expression; None for what is none of these."""
    if dim is None or isinstance(dim, int):
        return dim
    text = "".join(dim.split())
    if text.isdecimal():
        return int(text)
    if text.isidentifier():
        # To jaxtyping a name with an underscore in front is no name.
        return None if text.startswith("_") or keyword.iskeyword(text) else text
    return None if parse_expression(text) is None else text


def normalized(annotation: Annotation) -> Annotation:
    """An annotation with its axes as `normal` writes them."""
    return Annotation(None if annotation.dims is None else tuple(map(normal, annotation.dims)), annotation.dtype)


def bindable(annotations: Sequence[tuple[Annotation, bool]]) -> list[Annotation]:
    """The annotations of the parameters of one function, in order, each with whether it may be None.

    What cannot be evaluated becomes a name of its own if it occurs more than once, and None if not.
    """
    dims = [(normalized(annotation).dims, optional) for annotation, optional in annotations]
    used = {name for axes, _ in dims for dim in axes or () for name in _names(dim)}
    loose = Counter(dim for axes, good in _checked(dims) for dim, fine in zip(axes, good) if not fine)
    fresh = (name for name in _candidates() if name not in used)
    named = {dim: next(fresh) for dim, count in loose.items() if count > 1}
    result = []
    for (axes, good), (annotation, _) in zip(_checked(dims), annotations, strict=True):
        spelled = tuple(dim if fine else named.get(dim) for dim, fine in zip(axes, good))
        result.append(Annotation(None if annotation.dims is None else spelled, annotation.dtype))
    return result


def jaxtyping_axes(annotation: Annotation) -> str:
    """The string between the quotes."""
    if annotation.dims is None:
        return "..."
    return " ".join("_" if dim is None else str(dim) for dim in annotation.dims)


def _checked(dims: Sequence[tuple[tuple[Dim, ...] | None, bool]]) -> Iterator[tuple[tuple[Dim, ...], list[bool]]]:
    """The axes of each parameter, and which of them can be evaluated when jaxtyping gets there."""
    bound: set[str] = set()
    for axes, optional in dims:
        here = set(bound)
        good = []
        for dim in axes or ():
            alone = isinstance(dim, str) and dim.isidentifier()
            good.append(alone or set(_names(dim)) <= here)
            here |= set(_names(dim)) if alone else set()
        yield axes or (), good
        if not optional:
            bound = here


def _names(dim: Dim) -> Iterator[str]:
    if isinstance(dim, str):
        yield from _leaves(parse_expression(dim))


def _leaves(expression: Expression | None) -> Iterator[str]:
    if isinstance(expression, str):
        yield expression
    elif isinstance(expression, Operation):
        yield from _leaves(expression.left)
        yield from _leaves(expression.right)


def _candidates() -> Iterator[str]:
    yield from _FRESH
    number = 1
    while True:
        yield f"d{number}"
        number += 1
