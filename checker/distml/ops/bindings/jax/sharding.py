"""jax: functions of which every device runs a part: shard_map, and what the parts exchange.

https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from distml.ops.bindings.jax.transforms import later
from distml.ops.bindings.signature import bind
from distml.ops.registry import op
from distml.ops.rules.axes import replace_axis
from distml.ops.rules.kinds import kind_of
from distml.ops.semantics.trees import mapped, parts_of, rebuilt
from distml.shapes import Dim
from distml.values import Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.ops.call import Call

_SPEC = "jax.sharding.PartitionSpec"
Divided = dict[tuple[Dim, Value], Dim]
"""How long a part is of an axis that is divided over an axis of the mesh."""


@op(_SPEC, "jax.P")
def spec(call: Call, *axes: Value, **options: Value) -> Value:
    """PartitionSpec("data", None): the axis of the mesh that each axis is divided over."""
    return call.unknown() if options else Tup(axes, _SPEC)


later("f * -mesh=None in_specs=None out_specs=None -axis_names=None -check_vma=True", "jax.shard_map")
later(
    "f -mesh in_specs out_specs -check_rep=True -auto=None -check_vma=True -axis_names=None",
    "jax.experimental.shard_map.shard_map",
)


@op("jax.shard_map.__call__", "jax.experimental.shard_map.shard_map.__call__")
def in_parts(call: Call, f: Value, in_specs: Value, out_specs: Value, *args: Value, **kwargs: Value) -> Value:
    """jax.shard_map(f, in_specs=..., out_specs=...)(*args): f is given a part of each argument, and gives one of each result."""
    specs = Tup((in_specs,) * len(args)) if _is_spec(in_specs) else in_specs
    listed = call.items(specs)
    if kwargs or listed is None or len(listed) != len(args):
        return call.unknown()
    divided = _divided(call, [*zip(listed, args, strict=True)])

    def part(size: Dim, over: Value) -> Dim:
        return divided[size, over]

    made = call.apply(f, *(_along(call, spec, arg, part) for spec, arg in zip(listed, args, strict=True)))
    wholes = {(small, over): size for (size, over), small in divided.items()}
    return _along(call, out_specs, made, lambda size, over: wholes.get((size, over)) or call.symbol("whole", 1))


def _divided(call: Call, given: Sequence[tuple[Value, Value]]) -> Divided:
    """The parts of all sizes. As many devices stand along an axis of the mesh whatever is divided over it, so that the parts
    of two sizes are to each other as these are: what is as large as the sizes' greatest common divisor has a part that is
    not known, and any other a multiple of that."""
    sizes: dict[tuple[Dim, Value], None] = {}

    def note(size: Dim, over: Value) -> Dim:
        sizes[size, over] = None
        return size

    for each, arg in given:
        _along(call, each, arg, note)
    found: Divided = {}
    for over in dict.fromkeys(over for _, over in sizes):
        known = [size.constant for size, along in sizes if along == over and size.constant]
        unit, least = call.symbol("part", 1), math.gcd(*known)
        for size, along in sizes:
            if along == over:
                found[size, over] = unit * (size.constant // least) if size.constant else call.symbol("part", 1)
    return found


def _is_spec(value: Value) -> bool:
    return isinstance(value, Tup) and value.kind == _SPEC


def _along(call: Call, specs: Value, tree: Value, change: Callable[[Dim, Value], Dim]) -> Value:
    """The tree with other sizes where its specs name an axis of the mesh."""
    if isinstance(specs, Tup) and _is_spec(specs):
        return mapped(call, lambda leaf: _changed(call, specs, leaf, change), tree)
    inner, parts = parts_of(call, specs), parts_of(call, tree)
    if inner is None or parts is None or inner.keys() != parts.keys():
        return call.unknown()
    return rebuilt(call, tree, {key: _along(call, inner[key], part, change) for key, part in parts.items()})


def _changed(call: Call, specs: Tup, leaf: Value, change: Callable[[Dim, Value], Dim]) -> Value:
    shape = call.shape(leaf)
    if shape.dims is None or len(specs.items) > len(shape.dims):
        return call.unranked(kind_of(leaf))
    dims = list(shape.dims)
    for axis, over in enumerate(specs.items):
        if call.is_none(over) is not True:
            dims[axis] = change(dims[axis], over)
    return call.tensor(dims, kind_of(leaf))


def gathered(call: Call, x: Value, axis: Value, tiled: Value) -> Value:
    """jax.lax.all_gather(x, name): all parts on an axis of their own, or in a row."""
    joined = call.flag(tiled)

    def leaf(array: Value) -> Value:
        shape = call.shape(array)
        at = call.const(axis, int)
        if (
            shape.dims is None
            or joined is None
            or not isinstance(at, int)
            or not 0 <= at < len(shape.dims) + (not joined)
        ):
            return call.unranked(kind_of(array))
        if joined:
            return call.tensor(replace_axis(call, shape, at, None), kind_of(array))
        return call.tensor([*shape.dims[:at], None, *shape.dims[at:]], kind_of(array))

    return mapped(call, leaf, x)


bind(gathered, "x -axis_name * -axis_index_groups=None axis=0 tiled=False -to=None", "jax.lax.all_gather")
