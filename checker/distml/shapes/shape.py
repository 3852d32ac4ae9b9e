"""Shapes: known rank, known ends with an unknown middle, or nothing known.

A shape of unknown rank keeps what is known from the front (`head`) and from
the back (`tail`). The two may describe the same axis when the rank is small:
`x.size(0)` and the channel axis of `conv2d(x)` are one axis if `x` has no batch
axis. `least` is the smallest rank it can have.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from distml.shapes.dim import Dim

if TYPE_CHECKING:
    from collections.abc import Iterable


class Middle:
    """The unknown part of a shape; identity is the object's.

    A `dynamic` one is the type Dyn of gradual types: each use may see another rank.
    """

    __slots__ = ("dynamic", "name", "serial")

    def __init__(self, name: str, serial: int, dynamic: bool = False) -> None:
        self.name = name
        self.serial = serial
        self.dynamic = dynamic

    def __repr__(self) -> str:
        return f"*{self.name}"


class Shape:
    """The shape of a tensor.

    With `middle` None the rank is known and `head` is the whole shape. With a
    middle, `head` are the first dimensions, `tail` the last ones, and the rank
    is at least `least`.
    """

    __slots__ = ("_hash", "head", "least", "middle", "plain", "tail")

    def __init__(
        self,
        head: tuple[Dim, ...],
        middle: Middle | None = None,
        tail: tuple[Dim, ...] = (),
        least: int = 0,
    ) -> None:
        if middle is None:
            head, tail = head + tail, ()
            least = len(head)
        self.head = head
        self.middle = middle
        self.tail = tail
        self.least = max(least, len(head), len(tail))
        self._hash = hash((head, middle, tail, self.least))
        # Nothing can be learned of a shape of plain numbers.
        self.plain = middle is None and all(d.constant is not None for d in head)

    @staticmethod
    def of(*dims: int | Dim) -> Shape:
        """A shape of known rank."""
        return Shape(tuple(Dim.of(d) for d in dims))

    @property
    def rank(self) -> int | None:
        """The number of axes, None when unknown."""
        return len(self.head) if self.middle is None else None

    def may_equal(self, other: Shape) -> bool:
        """Whether two shapes may be the same."""
        if self.dims is not None and other.dims is not None:
            same = len(self.dims) == len(other.dims)
            return same and not any(a.differs(b) for a, b in zip(self.dims, other.dims, strict=True))
        known, open_ = (self, other) if self.dims is not None else (other, self)
        return known.dims is None or len(known.dims) >= open_.least

    @property
    def dims(self) -> tuple[Dim, ...] | None:
        """All dimensions when the rank is known."""
        return self.head if self.middle is None else None

    @property
    def size(self) -> Dim | None:
        """The number of elements when the rank is known."""
        return prod(self.head, start=Dim.of(1)) if self.middle is None else None

    def at(self, axis: int) -> Dim | None:
        """The dimension at `axis` (negative from the back), None when not known."""
        side = self.tail if axis < 0 and self.middle is not None else self.head
        if -len(side) <= axis < len(side) and (self.middle is None or side is self.tail or axis >= 0):
            return side[axis]
        return None

    def map(self, dims: Iterable[Dim]) -> Shape:
        """A shape of the same form whose head and tail are `dims` in order."""
        new = tuple(dims)
        count = len(self.head)
        return Shape(new[:count], self.middle, new[count:], self.least)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shape) or self._hash != other._hash:
            return False
        return (self.head, self.middle, self.tail, self.least) == (
            other.head,
            other.middle,
            other.tail,
            other.least,
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self._text([repr(d) for d in self.head], [repr(d) for d in self.tail])

    def brief(self) -> str:
        """The shape for a message: a dimension that would take a line of its own is `?`."""
        return self._text(*([_brief(d) for d in side] for side in (self.head, self.tail)))

    def _text(self, head: list[str], tail: list[str]) -> str:
        middle = [] if self.middle is None else ["..."]
        return f"[{', '.join(head + middle + tail)}]"


MAX_TEXT = 28


def _brief(dim: Dim) -> str:
    text = repr(dim)
    return text if len(text) <= MAX_TEXT else "?"
