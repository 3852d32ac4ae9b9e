"""flax: functions of modules: flax.linen.scan and flax.linen.vmap.

What they make of a class makes objects, each of which is one of that class that is run as jax.lax.scan or jax.vmap runs a
function. Of a function they make one whose first argument is a module.
https://flax.readthedocs.io/en/latest/api_reference/flax.linen/transformations.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.jax.transforms import scanned
from distml.ops.bindings.signature import bind
from distml.ops.call import NONE
from distml.ops.registry import op
from distml.ops.semantics.transforms import Axes, map_over
from distml.values import Class, Lib, Partial, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_GROUPS = "-variable_axes=None -variable_broadcast=False -variable_carry=False -split_rngs=None"
_AXES = "in_axes=0 out_axes=0"


def _lifted(call: Call, target: Value, in_axes: Value, out_axes: Value, length: Value) -> Value:
    if isinstance(target, Class | Lib | Partial):
        return Partial(Lib(f"{call.name}.made"), (target, in_axes, out_axes, length))
    return call.unknown()


bind(
    _lifted,
    f"target {_GROUPS} {_AXES} length=None -reverse=False -unroll=1 -data_transform=None -metadata_params=None"
    " -methods=None -_split_transpose=False -check_constancy_invariants=True",
    "flax.linen.scan",
)
bind(
    _lifted,
    f"target -variable_axes=None -split_rngs=None {_AXES} axis_size=None -axis_name=None -spmd_axis_name=None"
    " -metadata_params=None -methods=None",
    "flax.linen.vmap",
)


@op("flax.linen.scan.made", "flax.linen.vmap.made")
def made(
    call: Call, target: Value, in_axes: Value, out_axes: Value, length: Value, *args: Value, **kwargs: Value
) -> Value:
    """nn.scan(Layer)(*args): an object of the class, run otherwise."""
    one = call.apply(target, *args, kwargs=kwargs)
    return Partial(Lib(f"{call.name.removesuffix('.made')}.__call__"), (one, in_axes, out_axes, length))


def _axes(call: Call, axes: Value) -> Value:
    """Axes where what is broadcast has none."""
    if axes == Lib("flax.linen.broadcast"):
        return NONE
    items = call.items(axes)
    return axes if items is None else Tup(tuple(_axes(call, item) for item in items))


@op("flax.linen.scan.__call__")
def run_scan(
    call: Call, module: Value, in_axes: Value, out_axes: Value, length: Value, carry: Value, *xs: Value, **named: Value
) -> Value:
    """nn.scan(Layer)()(carry, *xs)"""
    if named:
        return call.unknown()
    size = None if call.is_none(length) else call.dim(length)
    return scanned(call, module, carry, xs, Axes(_axes(call, in_axes), out_axes, NONE), size)


@op("flax.linen.vmap.__call__")
def run_vmap(
    call: Call, module: Value, in_axes: Value, out_axes: Value, length: Value, *args: Value, **kwargs: Value
) -> Value:
    """nn.vmap(Layer)()(*args): named arguments are given as they are."""
    size = None if call.is_none(length) else call.dim(length)
    return map_over(call, module, Axes(in_axes, out_axes, NONE), args, kwargs, size)
