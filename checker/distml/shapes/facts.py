"""What is known about symbols and unknown ranks on the path that is followed.

Facts are kept in a store that belongs to the caller, one entry a symbol (the
dimension it must be) and one entry a middle (the most that is known of that
shape), so that branching and joining a store branches and joins the facts.
Equations that no symbol can be singled out of are not kept: forgetting is
sound, an error is only ever found from what is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from distml.shapes.dim import Dim
from distml.shapes.shape import Middle, Shape
from distml.shapes.symbol import Origin, Symbol

if TYPE_CHECKING:
    from collections.abc import Hashable


class Store(Protocol):
    """Where facts live: the interpreter's state, or a plain mapping in tests."""

    def get(self, key: Hashable) -> Any:
        """The entry of `key`, None when there is none."""

    def put(self, key: Hashable, value: Any) -> None:
        """Set the entry of `key`."""

    def serial(self) -> int:
        """A number that was not given before."""


class Facts:
    """Reads and extends the facts of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def symbol(
        self,
        name: str,
        low: int | None = 0,
        origin: Origin | None = None,
        high: Dim | None = None,
        *,
        dynamic: bool = False,
    ) -> Dim:
        """A new unknown dimension."""
        return Dim.symbol(Symbol(name, self.store.serial(), low, dynamic, high), origin)

    def unknown_shape(self, name: str = "shape", *, dynamic: bool = False) -> Shape:
        """A new shape nothing is known of."""
        return Shape((), Middle(name, self.store.serial(), dynamic))

    def framed(self, before: tuple[Dim, ...], shape: Shape, behind: tuple[Dim, ...] = ()) -> Shape:
        """A shape with axes before and behind it. Where its rank is unknown the result is a shape of its own: a middle stands
        for one shape as a whole, and what is learned of it holds for no other.
        """
        known = self.shape(shape)
        if known.dims is not None:
            return Shape((*before, *known.dims, *behind))
        if not before and not behind:
            return known
        least = known.least + len(before) + len(behind)
        return Shape((*before, *known.head), self.unknown_shape().middle, (*known.tail, *behind), least)

    def dim(self, dim: Dim) -> Dim:
        """The dimension with every known symbol replaced by what it is."""
        terms = dim.terms
        if not terms or (len(terms) == 1 and not terms[0][0]):
            return dim
        for _ in range(8):
            known: dict[Symbol, Dim] = {}
            for symbol in dim.symbols():
                value = self.store.get(symbol)
                if value is not None:
                    known[symbol] = value
            if not known:
                return dim
            replaced = dim.substitute(known)
            if replaced.origin is None or len(dim.terms) == 1:
                source = next(iter(known.values())).origin
                replaced = replaced.at(source or replaced.origin)
            dim = replaced
        return dim

    def shape(self, shape: Shape) -> Shape:
        """The most that is known of `shape`, dimensions resolved."""
        if shape.plain:
            return shape
        if shape.middle is not None:
            known = self.store.get(shape.middle)
            if known is not None:
                shape = known
        dims = shape.head + shape.tail
        resolved = tuple(self.dim(d) for d in dims)
        if all(a is b for a, b in zip(dims, resolved, strict=True)):
            return shape
        return shape.map(resolved)

    def equate(self, left: Dim, right: Dim) -> bool:
        """Learn that two dimensions are equal; False if they cannot be."""
        left, right = self.dim(left), self.dim(right)
        difference = left - right
        if not difference.terms:
            return True
        if difference.is_nonzero:
            return False
        if difference.is_dynamic:
            return True
        solved = difference.solve()
        if solved is None:
            return True
        symbol, value = solved
        if symbol.low is not None:
            high = (-(value - symbol.low)).low
            if high is not None and high > 0:
                return False
        if any(s is symbol for s in value.symbols()):
            return True
        source = left.origin if right.terms and value == left else right.origin
        self.store.put(symbol, value.at(source or left.origin))
        return True

    def nonnegative(self, dim: Dim, least: int = 0) -> Dim:
        """Learn that a number is a size of at least `least`: the symbol it is may have been less before."""
        dim = self.dim(dim)
        known = dim.low
        if dim.constant is not None or (known is not None and known >= least) or len(dim.terms) != 1:
            return dim
        monomial, coefficient = dim.terms[0]
        atom, power = monomial[0]
        if coefficient != 1 or len(monomial) != 1 or power != 1 or not isinstance(atom, Symbol):
            return dim
        size = self.symbol(atom.name, least, dim.origin, dynamic=atom.dynamic)
        if not atom.dynamic:
            self.store.put(atom, size)
        return size

    def at_least(self, shape: Shape, rank: int) -> Shape | None:
        """Learn that `shape` has at least `rank` axes; None if it cannot."""
        shape = self.shape(shape)
        if shape.middle is None:
            return shape if len(shape.head) >= rank else None
        if shape.least >= rank:
            return shape
        return self._refine(shape, shape.head, shape.tail, rank)

    def of_rank(
        self, shape: Shape, rank: int, names: tuple[str, ...] = (), origin: Origin | None = None
    ) -> Shape | None:
        """Learn that `shape` has exactly `rank` axes; None if it cannot.

        Sizes that become known to be there are called `names`, and come from `origin`.
        """
        shape = self.shape(shape)
        if shape.middle is None:
            return shape if len(shape.head) == rank else None
        if shape.least > rank:
            return None
        dims: list[Dim | None] = [None] * rank
        for axis, dim in enumerate(shape.head):
            dims[axis] = dim
        offset = rank - len(shape.tail)
        for axis, dim in enumerate(shape.tail, offset):
            known = dims[axis]
            if known is None:
                dims[axis] = dim
            elif not self.equate(known, dim):
                return None
        middle = shape.middle
        labels = [names[i] if i < len(names) else f"{middle.name}{i}" for i in range(rank)]
        full = tuple(
            self._axis_of(middle, label).at(origin) if d is None else d for d, label in zip(dims, labels, strict=True)
        )
        known_shape = Shape(full)
        if not middle.dynamic:
            self.store.put(middle, known_shape)
        return self.shape(known_shape)

    def axis(self, shape: Shape, axis: int, name: str | None = None) -> Dim | None:
        """The dimension at `axis`, made known if need be; None if out of range."""
        shape = self.shape(shape)
        if shape.middle is None:
            rank = len(shape.head)
            return shape.head[axis] if -rank <= axis < rank else None
        found = shape.at(axis)
        if found is not None:
            return found
        middle = shape.middle
        label = name or middle.name
        if axis >= 0:
            extra = tuple(self._axis_of(middle, f"{label}{i}") for i in range(len(shape.head), axis + 1))
            shape = self._refine(shape, shape.head + extra, shape.tail, axis + 1)
            return shape.head[axis]
        count = -axis - len(shape.tail)
        extra = tuple(self._axis_of(middle, f"{label}_{-axis - i}") for i in range(count))
        shape = self._refine(shape, shape.head, extra + shape.tail, -axis)
        return shape.tail[axis]

    def tail(self, shape: Shape, count: int) -> tuple[Dim, ...] | None:
        """The last `count` dimensions, made known if need be; None if too few."""
        if count == 0:
            return ()
        if self.axis(shape, -count) is None:
            return None
        shape = self.shape(shape)
        if shape.middle is not None and shape.middle.dynamic:
            return tuple(d for i in range(-count, 0) if (d := self.axis(shape, i)) is not None)
        dims = shape.head if shape.middle is None else shape.tail
        return dims[len(dims) - count :]

    def _refine(self, shape: Shape, head: tuple[Dim, ...], tail: tuple[Dim, ...], least: int) -> Shape:
        refined = Shape(head, shape.middle, tail, max(least, shape.least))
        if shape.middle is not None and not shape.middle.dynamic:
            self.store.put(shape.middle, refined)
        return refined

    def _axis_of(self, middle: Middle, name: str) -> Dim:
        """A size of an unknown rank, dynamic where that is."""
        if middle.dynamic:
            return Dim.symbol(Symbol(name, self.store.serial(), 0, dynamic=True))
        return self.symbol(name)
