"""A small scene for tests of ops: a world, two unknown sizes, calls by short names."""

from __future__ import annotations

from typing import Any

import pytest

from distml.ops import ShapeError
from distml.shapes import Dim, Facts, Shape
from distml.values import ListRecord, Num, Opaque, Tensor, Value

from ops.world import ScratchWorld, lift


class Scene:
    """A world, two unknown sizes, and calls by short names."""

    def __init__(self) -> None:
        self.world = ScratchWorld()
        facts = Facts(self.world)
        self.b, self.n = facts.symbol("b"), facts.symbol("n")

    def tensor(self, *dims: int | Dim) -> Tensor:
        return Tensor("torch", Shape.of(*dims), "float")

    def opaque(self, name: str) -> Opaque:
        return Opaque(name, self.world.serial())

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.world.call(name, *map(self.made, args), **{k: self.made(v) for k, v in kwargs.items()})

    def made(self, value: Any) -> Any:
        """The abstract value of a real one; abstract ones are left alone."""
        if isinstance(value, Value):
            return value
        if isinstance(value, list):
            return self.world.allocate(ListRecord(tuple(map(self.made, value))))
        return Num(value) if isinstance(value, Dim) else lift(self.world, value)

    def shape(self, name: str, *args: Any, **kwargs: Any) -> str:
        made = self.call(name, *args, **kwargs)
        return repr(Facts(self.world).shape(made.shape))

    def error(self, name: str, *args: Any, **kwargs: Any) -> tuple[str, str, str | None]:
        with pytest.raises(ShapeError) as raised:
            self.call(name, *args, **kwargs)
        return raised.value.code, raised.value.message, raised.value.hint


@pytest.fixture
def scene() -> Scene:
    return Scene()
