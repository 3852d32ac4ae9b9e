"""einops patterns taken apart: `b c (h p) ... -> b (c p) h ...`.

https://einops.rocks/api/rearrange/. May import nothing of distml but the call.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

DOTS = "..."


class Side(NamedTuple):
    """One side of a pattern: groups of names, numbers as text, or `...`.

    `at` is the place of the group that stands for the ellipsis, None without one.
    """

    groups: tuple[tuple[str, ...], ...]
    at: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, in order."""
        return tuple(n for group in self.groups for n in group if n != DOTS and not n.isdigit())

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every number above 1."""
        return tuple(n for group in self.groups for n in group if n.isdigit() and n != "1")


class MalformedError(Exception):
    """A pattern that einops refuses whatever the tensor is."""


@lru_cache(maxsize=512)
def parse(pattern: str) -> tuple[Side, Side]:
    """Both sides of a pattern; raises `MalformedError`."""
    left, arrow, right = pattern.partition("->")
    if not arrow or "->" in right:
        raise MalformedError("a pattern has one '->'")
    sides = parse_side(left), parse_side(right)
    if any(DOTS in group and len(group) > 1 for group in sides[0].groups):
        raise MalformedError("'...' inside parentheses on the left")
    if sides[1].at is not None and sides[0].at is None:
        raise MalformedError("'...' on the right only")
    return sides


@lru_cache(maxsize=512)
def parse_side(text: str) -> Side:
    """One side of a pattern that names each axis once; raises `MalformedError`."""
    side = read_side(text)
    for name in side.names:
        if side.names.count(name) > 1:
            raise MalformedError(f"'{name}' appears twice on one side")
    return side


@lru_cache(maxsize=512)
def read_side(text: str) -> Side:
    """One side of a pattern, in which names may be repeated as einsum allows; raises `MalformedError`."""
    spaced = text.replace("(", " ( ").replace(")", " ) ").replace(DOTS, f" {DOTS} ")
    groups: list[tuple[str, ...]] = []
    opened: list[str] | None = None
    for token in spaced.split():
        if token in "()":
            if (token == "(") == (opened is not None):
                raise MalformedError("parentheses do not match")
            if opened is not None:
                # Inside parentheses the ellipsis is merged: never the bare `(DOTS,)`.
                groups.append((*opened, "1") if DOTS in opened else tuple(opened))
            opened = [] if token == "(" else None
        elif opened is not None:
            opened.append(_checked(token))
        else:
            groups.append((_checked(token),))
    if opened is not None:
        raise MalformedError("parentheses do not match")
    return _side(groups)


def _side(groups: list[tuple[str, ...]]) -> Side:
    # A 1 inside a group changes nothing; alone it is an axis of size 1, as `()` is.
    kept = tuple(g if DOTS in g else tuple(n for n in g if n != "1") for g in map(tuple, groups))
    dots = [i for i, group in enumerate(kept) if DOTS in group]
    side = Side(kept, dots[0] if dots else None)
    if len(dots) > 1 or any(group.count(DOTS) > 1 for group in kept):
        raise MalformedError("'...' appears twice")
    return side


def _checked(token: str) -> str:
    if token == DOTS or token == "_":
        return token
    if token.isdigit():
        if int(token) == 0:
            raise MalformedError("an axis of size 0 in a pattern")
        return token
    if not token.isidentifier() or token[0] == "_" or token[-1] == "_":
        raise MalformedError(f"{token!r} is no name of an axis")
    return token
