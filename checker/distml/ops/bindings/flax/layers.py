"""flax: what layers of flax.linen and of flax.nnx have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import home
from distml.ops.call import NONE
from distml.ops.registry import layer
from distml.ops.rules.kinds import kind_of
from distml.values import DictRecord, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call
    from distml.shapes import Dim

Attrs = dict[str, Value]


def register(
    base: str, init: Callable[..., Attrs | None], forward: Callable[..., Value], *names: str, depth: int = 3
) -> None:
    """Register layers whose class has the base `base`: what `init` keeps, what `forward` makes of an input.

    The frame `depth` calls up is that of the module that lists them.
    """
    members = {"bases": (base,), "init": staticmethod(init), "forward": staticmethod(forward)}
    layer(*names)(type("Bound", (), {**members, "__module__": home(depth)}))


def convolution(kernel: Value, strides: Value, padding: Value, spacing: Value, dilation: Value, groups: Value) -> Attrs:
    """What the windows of a convolution are made of."""
    return {
        "kernel_size": kernel,
        "strides": strides,
        "padding": padding,
        "input_dilation": spacing,
        "kernel_dilation": dilation,
        "feature_group_count": groups,
    }


def width(call: Call, attrs: Attrs, name: str = "features") -> Dim:
    """The size a layer was made for, a new symbol if it is not known."""
    found = call.dim(attrs.get(name, NONE))
    return call.symbol(name) if found is None else found


def nothing(call: Call, *args: Value) -> Attrs:
    """What a layer keeps whose results depend on no parameter."""
    return {}


def keeping(call: Call, attrs: Attrs, inputs: Value, *args: Value, **options: Value) -> Value:
    """A layer that keeps the shape."""
    return call.tensor(call.shape(inputs), kind_of(inputs))


def in_a_row(call: Call, attrs: Attrs, *args: Value, **options: Value) -> Value:
    """Each layer on the result of the one before, whose tuple is its arguments. A dictionary's names are not followed."""
    items = call.items(attrs["layers"])
    if not items or options:
        return call.unknown()
    for item in items:
        made = call.apply(item, *args)
        if isinstance(made, Ref) and isinstance(call.world.record(made), DictRecord):
            return call.unknown()
        args = made.items if isinstance(made, Tup) else (made,)
    return made
