"""The weights of layers: what a table says of each, and how a layer shows it under its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.bindings.signature import home
from distml.ops.registry import MANY, attribute
from distml.shapes import Dim
from distml.values import NONE, Const, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

Attrs = dict[str, Value]
Sizes = list[Dim | None]


class Weight(NamedTuple):
    """One weight of a layer: its name, its sizes (None where its rank is not known), the option that leaves it out, and whether
    training changes it."""

    name: str
    sizes: Callable[[Call, Attrs], Sizes | None]
    option: str = ""
    trained: bool = True

    def given(self, call: Call, attrs: Attrs) -> bool | None:
        """Whether a layer has it; None where that is not known, as where one object stands for several layers."""
        return None if MANY in attrs else call.flag(attrs.get(self.option, Const(True)))

    def made(self, call: Call, attrs: Attrs, lib: str) -> Tensor | None:
        """The weight of a layer that has it."""
        dims = self.sizes(call, attrs)
        if dims is None:
            return None
        made = call.tensor(dims, "float", lib)
        return Tensor(made.lib, made.shape, made.dtype, parameter=True)


def dims(*names: str) -> Callable[[Call, Attrs], Sizes]:
    """Sizes that are attributes of the layer."""
    return lambda call, attrs: [call.dim(attrs.get(name, NONE)) for name in names]


def shown(weight: Weight, lib: str, source: str, *layers: str) -> None:
    """Let layers show a weight under its name: None where they were made without it."""

    def rule(call: Call, self: Value) -> Value:
        attrs = call.attrs(self)
        given = None if attrs is None else weight.given(call, attrs)
        if attrs is None or given is None:
            return call.unknown()
        return (weight.made(call, attrs, lib) or call.unknown()) if given else NONE

    rule.__doc__ = f"{source}: `{weight.name}`"
    rule.__module__ = home()
    attribute(*(f"{layer}.{weight.name}" for layer in layers))(rule)
