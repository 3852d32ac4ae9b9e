"""numpy: which functions give views, and which arrays of their own; as far as PyTorch takes them (SHP209).

Arrays that a function makes run forward in memory, whatever it was given; the order of their axes does not matter here.
https://numpy.org/doc/stable/user/basics.copies.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules import strides as rules
from distml.ops.rules.laws import NUMPY, given, stand
from distml.ops.rules.pointwise import UFUNCS
from distml.values import NONE, PACKED, Const, Ref, Tup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from distml.ops.call import Call
    from distml.shapes import Shape
    from distml.values import Strides, Value

FRESH = """
    abs absolute arange array ascontiguousarray astype ceil clip column_stack concatenate copy cumsum dstack empty empty_like
    exp eye flatten floor full full_like hstack identity linspace log logspace maximum mean minimum ones ones_like pad
    random.normal random.permutation random.rand random.randint random.randn random.random random.uniform
    repeat roll round sort sqrt stack sum take tile vstack where zeros zeros_like
"""
ALL_AXES = {"flipud": Const(0), "fliplr": Const(1)}


def as_array(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """The array itself, or one of its own where it is made of a list."""
    data = given(args, kwargs, 0, "a") or NONE
    return PACKED if isinstance(data, Tup | Ref) else rules.same(call, (data,), {}, shape)


def flipped(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """A view that goes through some axes, or all of them, backwards."""
    strides = rules.strides_of(call, given(args, kwargs, 0, "m") or NONE)
    if strides is None:
        return None
    axis = ALL_AXES.get(call.name.rpartition(".")[2]) or given(args, kwargs, 1, "axis") or NONE
    axes = tuple(range(len(strides))) if axis == NONE else call.axes(axis, len(strides))
    if axes is None:
        return None
    return tuple((-stride if place in axes else stride).at(None) for place, stride in enumerate(strides))


LAWS = {
    rules.fresh: FRESH + " ".join(f"__{name}__ __r{name}__" for name in UFUNCS) + " __neg__ __abs__",
    as_array: "asarray asanyarray",
    rules.moved: "T transpose permute_dims swapaxes moveaxis rollaxis",
    rules.in_order: "squeeze expand_dims",
    rules.taken: "__getitem__",
    rules.viewed: "reshape",
    flipped: "flip fliplr flipud",
}


stand(rules.LAWS, NUMPY, LAWS)
