"""Inputs that a migration allows, and inputs that it forbids."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from types import SimpleNamespace

from distml.gradual.migrate import Migration

Sizes = dict[str, int]
Shape = tuple[int, ...]
DRAWN = 4
"""Random instances of an annotation."""
ATTEMPTS = 200_000
LARGEST = 288


class Instances:
    """Draws from the annotation of the one input of a migration, and from what is just outside of it."""

    def __init__(self, migration: Migration) -> None:
        ((name, annotation),) = migration.annotations.items()
        assert annotation.dims is not None
        self.dims = annotation.dims
        self.constraints = migration.constraints
        self.names = sorted({word for dim in self.dims for word in re.findall(r"[a-z]\w*", str(dim))})
        self.model: Shape = tuple(int(n) for n in migration.model[name] if n is not None)
        self.chance = random.Random(0)

    def allowed(self) -> list[Shape]:
        """The smallest instance with batches of 1, 2 and 7, and larger ones."""
        smallest = self._sizes(self.model)
        found = [self._shape({**smallest, "b": batch}) for batch in (1, 2, 7) if "b" in smallest]
        found += [self._shape(sizes) for sizes in self._drawn(DRAWN)]
        return list(dict.fromkeys([self.model, *found]))

    def forbidden(self) -> list[tuple[Shape, str]]:
        """Other ranks, other fixed sizes, and every constraint missed; with what each breaks."""
        found: list[tuple[Shape, str]] = []
        usual = next(self._drawn(1))
        for base in (self.model, self._shape(usual)):
            found += [(base[1:], "rank"), ((1, *base), "rank")]
            for axis, dim in enumerate(self.dims):
                if isinstance(dim, int):
                    for size in {max(dim - 1, 0), dim + 1} - {dim}:
                        found.append(((*base[:axis], size, *base[axis + 1 :]), f"axis {axis} is {dim}"))
        for sizes in (self._sizes(self.model), usual):
            for constraint in self.constraints:
                found += [(self._shape(s), constraint) for s in self._misses(sizes, constraint)]
        return list(dict.fromkeys(found))

    def _misses(self, sizes: Sizes, constraint: str) -> Iterator[Sizes]:
        """Instances that break one constraint and no other, each changed in one size by as little as does it."""
        others = [c for c in self.constraints if c != constraint]
        for name in self.names:
            for step in (-1, 1):
                changed = dict(sizes)
                while 1 <= changed[name] + step <= 2 * LARGEST:
                    changed[name] += step
                    if not holds(constraint, changed):
                        if all(holds(c, changed) for c in others):
                            yield changed
                        break

    def _drawn(self, count: int) -> Iterator[Sizes]:
        for _ in range(ATTEMPTS):
            sizes = {name: self.chance.randint(1, 7 if name == "b" else LARGEST) for name in self.names}
            if all(holds(c, sizes) for c in self.constraints):
                yield sizes
                count -= 1
            if not count:
                return

    def _sizes(self, shape: Shape) -> Sizes:
        return {str(dim): size for dim, size in zip(self.dims, shape, strict=True) if str(dim).isidentifier()}

    def _shape(self, sizes: Sizes) -> Shape:
        return tuple(dim if isinstance(dim, int) else _number(str(dim), sizes) for dim in self.dims)


def holds(constraint: str, sizes: Sizes) -> bool:
    """Whether sizes meet a constraint as `migrate` shows it: Python over the names of sizes, of a model in use."""
    return bool(_number(constraint, sizes))


def _number(text: str, sizes: Sizes) -> int:
    known = {**sizes, "self": SimpleNamespace(training=False)}
    found: int = eval(text, {"__builtins__": {}}, known)
    return found
