"""Floor divisions that could not be carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from distml.shapes.dim import Dim


class Quotient:
    """`numerator // denominator`, floor division that could not be carried out. Made by `of`.

    There is one object for each quotient, so identity is equality. What is asked of it again and again is computed
    once, from the quotients inside it: `key` orders it by its structure, `symbols` are those in it, each once, and
    `weight` is how many atoms it is written with. A size made of sizes is small as a graph and may be huge as text.
    """

    __slots__ = ("__weakref__", "denominator", "key", "numerator", "symbols", "weight")

    _made: ClassVar[WeakValueDictionary[tuple[Dim, Dim], Quotient]] = WeakValueDictionary()

    def __init__(self, numerator: Dim, denominator: Dim) -> None:
        self.numerator = numerator
        self.denominator = denominator
        self.key = (1, numerator.key, denominator.key)
        self.symbols = tuple(dict.fromkeys((*numerator.symbols(), *denominator.symbols())))
        self.weight = 1 + numerator.weight + denominator.weight

    @classmethod
    def of(cls, numerator: Dim, denominator: Dim) -> Quotient:
        """The quotient of two dimensions."""
        parts = (numerator.at(None), denominator.at(None))
        made = cls._made.get(parts)
        if made is None:
            made = cls._made[parts] = cls(*parts)
        return made

    def __repr__(self) -> str:
        return f"{_wrapped(self.numerator)}//{_wrapped(self.denominator)}"


def _wrapped(dim: Dim) -> str:
    text = repr(dim)
    return f"({text})" if len(dim.terms) > 1 or "*" in text else text
