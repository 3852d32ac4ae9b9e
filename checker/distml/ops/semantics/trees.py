"""Trees: arrays in lists, tuples and dicts, and functions of each of them.

https://docs.jax.dev/en/latest/pytrees.html, and the arguments and results of https://docs.pytorch.org/docs/stable/func.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.values import (
    NONE,
    Class,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    Lib,
    ListRecord,
    Num,
    Prim,
    Ref,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call
    from distml.shapes import Dim

PARAMETERS = "flax.linen.Params"
"""The class of parameters that stay whole: every function of trees gives them back as they are."""
STATES = "torch.func.State"
"""The class of the parameters or buffers of one module, or of several alike in an axis of their own ahead of the others."""
_MODELS = "__models__"
_DEPTH = 16
_PLAIN = (Const, Num, Prim, Function, Class, Lib)
"""Fields of an object that stay as they are."""


def is_whole(call: Call, tree: Value) -> bool:
    """Whether a value stands for a tree of parameters that is not taken apart."""
    record = call.world.record(tree) if isinstance(tree, Ref) else None
    return isinstance(record, InstanceRecord) and record.cls in (Lib(PARAMETERS), Lib(STATES))


def states(call: Call, models: Dim | None = None) -> Value:
    """The parameters of one module, or of so many that are stacked."""
    attrs = {} if models is None else {_MODELS: call.number(models)}
    return call.world.allocate(InstanceRecord(Lib(STATES), attrs, exact=False))


def models_of(call: Call, tree: Value) -> Dim | None:
    """How many modules a tree holds the stacked parameters of; None for any other tree."""
    return call.dim((call.attrs(tree) or {}).get(_MODELS, NONE)) if is_whole(call, tree) else None


def is_of_one(call: Call, tree: Value) -> bool:
    """Whether a tree is certainly the parameters of one module."""
    record = call.world.record(tree) if isinstance(tree, Ref) else None
    return isinstance(record, InstanceRecord) and record.cls == Lib(STATES) and _MODELS not in record.attrs


def is_leaf(value: Value) -> bool:
    """Whether a value is an array or a number."""
    return isinstance(value, Tensor | Num | Prim) or (isinstance(value, Const) and value.value is not None)


def parts_of(call: Call, tree: Value) -> dict[Value, Value] | None:
    """What a tuple, a list or a dict holds, by its place; None for a leaf and for what is not known."""
    record = call.world.record(tree) if isinstance(tree, Ref) else None
    if isinstance(record, DictRecord):
        return dict(record.items) if record.exact else None
    if isinstance(record, InstanceRecord) and record.exact and isinstance(record.cls, Class):
        # An object that JAX takes as a tree: its arrays are the leaves, other fields stay as they are. One that seems to have
        # none may have numbers instead, and what is not known may be a leaf.
        return {Const(name): item for name, item in record.attrs.items() if not isinstance(item, _PLAIN)} or None
    if isinstance(tree, Tup) and tree.kind != "view":
        return {Const(place): item for place, item in enumerate(tree.items)}
    if isinstance(record, ListRecord) and record.items is not None:
        return {Const(place): item for place, item in enumerate(record.items)}
    return None


def rebuilt(call: Call, tree: Value, parts: dict[Value, Value]) -> Value:
    """A tree like another one, of other parts."""
    if isinstance(tree, Tup):
        return Tup(tuple(parts.values()), tree.kind, tree.fields, tree.cls)
    record = call.world.record(tree) if isinstance(tree, Ref) else None
    if isinstance(record, DictRecord):
        return call.world.allocate(DictRecord(parts))
    if isinstance(record, InstanceRecord):
        changed = {key.value: part for key, part in parts.items() if isinstance(key, Const)}
        return call.world.allocate(record.having(changed))
    return call.list_of(tuple(parts.values()))


def mapped(call: Call, function: Callable[..., Value], tree: Value, *rest: Value, depth: int = 0) -> Value:
    """The tree of what `function` makes of each leaf, and of the values in its place in the `rest`."""
    if tree == NONE or is_whole(call, tree):
        return tree
    parts = parts_of(call, tree) if depth < _DEPTH else None
    if parts is None:
        return function(tree, *rest) if is_leaf(tree) else call.unknown()
    others = [parts_of(call, other) for other in rest]
    if any(other is None or other.keys() != parts.keys() for other in others):
        return call.unknown()
    made = {
        key: mapped(call, function, part, *(other[key] for other in others if other is not None), depth=depth + 1)
        for key, part in parts.items()
    }
    return rebuilt(call, tree, made)


def leaves(call: Call, tree: Value, depth: int = 0) -> list[Value] | None:
    """The leaves in order; None where they are not all known. Those of a dict stand in the order of its keys."""
    if tree == NONE:
        return []
    if is_leaf(tree):
        return [tree]
    parts = parts_of(call, tree) if depth < _DEPTH else None
    if parts is None:
        return None
    record = call.world.record(tree) if isinstance(tree, Ref) else None
    keys = list(parts)
    if isinstance(record, DictRecord):
        names = [key.value for key in keys if isinstance(key, Const) and isinstance(key.value, str)]
        if len(names) < len(keys):
            return None
        keys = [key for _, key in sorted(zip(names, keys, strict=True), key=lambda pair: pair[0])]
    found: list[Value] = []
    for key in keys:
        inner = leaves(call, parts[key], depth + 1)
        if inner is None:
            return None
        found += inner
    return found
