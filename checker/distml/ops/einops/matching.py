"""Matching an einops pattern with a shape: the size of every name, then the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from distml.ops.einops.pattern import DOTS, MalformedError, Side, parse
from distml.ops.rules.axes import product
from distml.ops.rules.counts import divide
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from distml.ops.call import Call
    from distml.values import Value

Known = dict[str, Dim]
"""What each name of a pattern stands for."""


class Match:
    """One pattern applied to one tensor."""

    def __init__(self, call: Call, pattern: str, given: Mapping[str, Value]) -> None:
        self.call = call
        self.pattern = pattern
        try:
            self.left, self.right = parse(pattern)
        except MalformedError as wrong:
            call.fail("SHP207", f"{call.text}: '{pattern}': {wrong}")
        self.sizes: Known = {}
        self.rest = Shape.of()
        self._take(given)

    def fail(self, message: str, *dims: Dim, hint: str | None = None) -> NoReturn:
        """The pattern does not fit."""
        call = self.call
        call.fail("SHP207", f"{call.text}: '{self.pattern}': {message}", *call.notes(*dims), hint=hint)

    def _take(self, given: Mapping[str, Value]) -> None:
        present = {*self.left.names, *self.right.names}
        for name, value in given.items():
            if name not in present:
                self.fail(f"a size is given for '{name}', which the pattern does not name")
            size = self.call.dim(value)
            self.sizes[name] = self.call.symbol(name) if size is None else self.call.facts.nonnegative(size)
            constant = self.sizes[name].constant
            if constant is not None and constant < 0:
                self.fail(f"'{name}' is given the size {constant}")

    def read(self, shape: Shape) -> None:
        """Give every name of the left its size in `shape`."""
        call, groups, at = self.call, self.left.groups, self.left.at
        count = len(groups) - (at is not None)
        if at is None:
            names = tuple("_".join(group) or "one" for group in groups)
            known = call.facts.of_rank(shape, count, names)
            if known is None:
                self._wrong_rank(shape, count)
            for group, dim in zip(groups, known.head, strict=True):
                self._split(group, dim, known)
            return
        if call.facts.at_least(shape, count) is None:
            self._wrong_rank(shape, count)
        behind = len(groups) - at - 1
        front = [call.facts.axis(shape, i) for i in range(at)]
        back = call.facts.tail(shape, behind) or ()
        shape = call.facts.shape(shape)
        for group, size in zip(groups[:at] + groups[at + 1 :], [*front, *back], strict=True):
            if size is not None:
                self._split(group, size, shape)
        self.rest = self._between(shape, at, behind)

    def _between(self, shape: Shape, front: int, back: int) -> Shape:
        if shape.dims is not None:
            return Shape(shape.dims[front : len(shape.dims) - back])
        unknown = self.call.facts.unknown_shape().middle
        return Shape((), unknown, (), max(shape.least - front - back, 0))

    def _wrong_rank(self, shape: Shape, count: int) -> NoReturn:
        shown = self.call.show(shape)
        least = "at least " if self.left.at is not None else ""
        names = " ".join(self._shown(group) for group in self.left.groups)
        self.fail(f"the left side '{names}' is {least}{count} axes, the tensor is {shown}", *shape.head)

    def _split(self, group: tuple[str, ...], dim: Dim, shape: Shape) -> None:
        """`(h p)` meets a dimension: all sizes but one are known, or they are checked."""
        call = self.call
        dim = call.facts.dim(dim)
        known = [self._size(name) for name in group if self._size(name) is not None]
        missing = [name for name in group if self._size(name) is None]
        total = product(call, [d for d in known if d is not None])
        if len(missing) > 1 or (missing and total == 0):
            self.fail(f"the sizes of {', '.join(missing)} in {self._shown(group)} cannot be inferred")
        if not missing:
            call.require_equal(
                dim,
                total,
                "SHP207",
                f"{call.text}: '{self.pattern}': {self._shown(group)} is {{right}}, "
                f"that axis of {shape!r} has {{left}}",
            )
            return
        size = divide(dim, total)
        if size is None:
            self.fail(
                f"{self._shown(group)}: {dim} of {shape!r} is no multiple of {total}",
                dim,
                *(d for d in known if d is not None),
            )
        self.sizes[missing[0]] = self._whole(missing[0], dim, total, size)

    def _whole(self, name: str, dim: Dim, total: Dim, size: Dim) -> Dim:
        """`(h d)` of an unknown size `n` with `h=8`: `n` is learned to be `8*d`."""
        if dim.lone is None or total.constant is None or total == 1:
            return size
        part = self.call.symbol(name)
        self.call.equate(dim, total * part, "SHP207", f"{self.call.text}: {dim} is no multiple of {total}")
        return self.call.facts.dim(part)

    def _size(self, name: str) -> Dim | None:
        return Dim.of(int(name)) if name.isdigit() else self.sizes.get(name)

    def _shown(self, group: tuple[str, ...]) -> str:
        if len(group) == 1:
            return group[0]
        return f"({' '.join(group)})" if group else "1"

    def write(self, side: Side) -> Shape:
        """The shape that a side describes."""
        call = self.call
        front: list[Dim] = []
        back: list[Dim] = []
        dots = False
        for group in side.groups:
            if group == (DOTS,):
                dots = True
                continue
            (back if dots else front).append(self._merged(group))
        if not dots:
            return Shape((*front, *back))
        if self.rest.dims is not None:
            return Shape((*front, *self.rest.dims, *back))
        least = len(front) + len(back) + self.rest.least
        return Shape(tuple(front), call.facts.unknown_shape().middle, tuple(back), least)

    def _merged(self, group: tuple[str, ...]) -> Dim:
        call = self.call
        if DOTS in group and self.rest.dims is None:
            return call.symbol("size")
        sizes = [self._size(name) or call.symbol(name) for name in group if name != DOTS]
        if DOTS in group:
            sizes += self.rest.dims or ()
        return product(call, sizes)
