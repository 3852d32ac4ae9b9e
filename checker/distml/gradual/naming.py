"""Names for the sizes of inputs: what people call the axes of a tensor of some rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.shapes import Dim, Symbol
from distml.solver.formula import flags, show, symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from distml.shapes import Shape
    from distml.solver.formula import Formula

USUAL: Mapping[int, tuple[str, ...]] = {
    1: ("n",),
    2: ("b", "n"),
    3: ("b", "t", "d"),
    4: ("b", "c", "h", "w"),
    5: ("b", "c", "t", "h", "w"),
}
IMAGE = ("c", "h", "w")
"""An input of three axes whose first is fixed is an image without its batch."""


class Names:
    """Gives every free size of the inputs a name of its own, the same wherever it occurs."""

    def __init__(self) -> None:
        self._names: dict[Symbol, str] = {}
        self._taken: set[str] = set()

    def add(self, shape: Shape) -> None:
        """Name the sizes of one input's axes."""
        dims = shape.dims or ()
        usual = _usual(dims)
        for axis, dim in enumerate(dims):
            symbol = dim.lone
            if symbol is not None and symbol not in self._names:
                self._give(symbol, usual[axis] if axis < len(usual) else f"d{axis}")
        for dim in dims:
            for symbol in dim.symbols():
                if symbol not in self._names:
                    self._give(symbol, symbol.name if symbol.name.isidentifier() else "n")

    def _give(self, symbol: Symbol, wanted: str) -> None:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}{number}"
        self._names[symbol] = name
        self._taken.add(name)

    def __call__(self, symbol: Symbol) -> str:
        """The name of a symbol; its own where it is no size of an input."""
        return self._names.get(symbol, symbol.name)

    def knows(self, formula: Formula) -> bool:
        """Whether a formula speaks of nothing but named sizes."""
        return not flags(formula) and all(symbol in self._names for symbol in symbols(formula))

    def dim(self, dim: Dim) -> str | int:
        """A dimension in an annotation."""
        constant = dim.constant
        if constant is not None:
            return constant
        renamed = {s: Dim.symbol(Symbol(self(s), s.serial, s.low)) for s in dim.symbols()}
        return repr(dim.substitute(renamed)).replace(" ", "")

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self._names)


def _usual(dims: Sequence[Dim]) -> tuple[str, ...]:
    if len(dims) == 3 and dims[0].constant is not None and dims[2].constant is None:
        return IMAGE
    return usual_names(len(dims))


def usual_names(rank: int) -> tuple[str, ...]:
    """What the axes of a tensor of that rank are called."""
    return USUAL.get(rank) or tuple(f"d{i}" for i in range(rank))


def said(formulas: Iterable[Formula], names: Names) -> list[str]:
    """Constraints as a reader sees them: over named sizes only, each once; what speaks of no size at all is left out."""
    return list(dict.fromkeys(show(f, names) for f in formulas if symbols(f) and names.knows(f)))
