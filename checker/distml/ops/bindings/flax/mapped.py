"""flax: functions of functions of flax.nnx: vmap and scan, over arrays and over modules whose parameters are stacked.

https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/transforms.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.jax.transforms import require_same
from distml.ops.call import NONE, ZERO
from distml.ops.registry import op
from distml.ops.semantics.transforms import axes_of, common_size, per_argument, stacked, traced, without
from distml.values import Class, InstanceRecord, Lib, Opaque, Partial, Ref, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.shapes import Dim

_CARRY = Lib("flax.nnx.Carry")
_STACK = Lib("flax.nnx.stacked")
_DEFAULT = {"flax.nnx.vmap": ZERO, "flax.nnx.scan": Tup((_CARRY, ZERO))}


@op(*_DEFAULT)
def made(call: Call, f: Value | None = None, **options: Value) -> Value:
    """nnx.vmap(f, ...), and @nnx.vmap(...)."""
    if f is None:
        return Partial(Lib(call.name), (), tuple(options.items()))
    usual = _DEFAULT[call.name]
    length = options.get("axis_size", options.get("length", NONE))
    given = (f, options.get("in_axes", usual), options.get("out_axes", usual), length)
    return Partial(Lib(f"{call.name}.__call__"), given)


@op("flax.nnx.vmap.__call__", "flax.nnx.scan.__call__")
def run(call: Call, f: Value, in_axes: Value, out_axes: Value, length: Value, *args: Value, **named: Value) -> Value:
    """nnx.scan(f)(*args): the function sees one slice of each argument, and the carry as it is."""
    taken = Tup((in_axes,) * len(args)) if in_axes == _CARRY else per_argument(call, in_axes, len(args))
    if taken is None or named:
        return call.unknown()
    arrays = [
        (axis, arg) for axis, arg in zip(taken.items, args, strict=True) if axis != _CARRY and _is_tree(call, arg)
    ]
    size = common_size(call, [pair for axis, arg in arrays for pair in axes_of(call, axis, arg) or ()])
    inside = [_slice(call, axis, arg) for axis, arg in zip(taken.items, args, strict=True)]
    given = call.apply(f, *inside)
    carried = [arg for axis, arg in zip(taken.items, inside, strict=True) if axis == _CARRY]
    return _gathered(call, given, out_axes, size or (None if call.is_none(length) else call.dim(length)), carried)


@op("flax.nnx.stacked")
def called(call: Call, module: Value, *args: Value, **named: Value) -> Value:
    """Modules whose parameters are stacked are not called by themselves."""
    return call.unknown()


def _is_module(call: Call, value: Value) -> bool:
    record = call.world.record(value) if isinstance(value, Ref) else None
    return isinstance(record, InstanceRecord) and isinstance(record.cls, Class | Lib)


def _is_tree(call: Call, value: Value) -> bool:
    return not (isinstance(value, Opaque | Partial) or _is_module(call, value))


def _slice(call: Call, axis: Value, arg: Value) -> Value:
    """One of what is stacked in an argument."""
    if axis == _CARRY:
        return traced(call, arg) if _is_tree(call, arg) else arg
    if call.is_none(axis):
        return arg
    if isinstance(arg, Partial) and arg.function == _STACK:
        return arg.args[0]
    return without(call, axis, arg) if _is_tree(call, arg) else call.unknown()


def _gathered(call: Call, made: Value, axes: Value, size: Dim | None, carried: list[Value]) -> Value:
    """What the steps give, stacked, and the last carry."""
    if axes == _CARRY:
        for before in carried:
            require_same(call, before, made, "the carry goes in and comes out with different shapes")
        return made
    items, parts = call.items(axes), call.items(made) if isinstance(made, Tup) else None
    if items is not None:
        if parts is None or len(parts) != len(items):
            return call.unknown()
        return Tup(tuple(_gathered(call, part, axis, size, carried) for part, axis in zip(parts, items, strict=True)))
    if _is_module(call, made):
        return Partial(_STACK, (made,))
    return stacked(call, made, axes, size)
