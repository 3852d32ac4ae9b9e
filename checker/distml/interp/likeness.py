"""Whether a turn of a loop left everything as it was, but for the identity of what is unknown.

A training loop of two hundred turns is in its steady state after two: tensors have
the shapes they had, numbers that are unknown are unknown again. Counters and lists
that grow are no steady state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.interp.state import written_apart
from distml.shapes import Dim, Middle, Shape, Symbol
from distml.values import (
    Const,
    DictRecord,
    InstanceRecord,
    ListRecord,
    Num,
    Opaque,
    Prim,
    Ref,
    Tensor,
    Tup,
    Union,
)

if TYPE_CHECKING:
    from collections.abc import Hashable

    from distml.interp.state import State


def is_steady(before: State, after: State, targets: set[Hashable]) -> bool:
    """Whether everything that existed before a turn is alike after it, but for the loop's own variables."""
    keys, _ = written_apart(before, after)
    for key in keys:
        if key in targets or isinstance(key, Symbol | Middle) or (isinstance(key, tuple) and isinstance(key[0], str)):
            continue
        old = before.get(key)
        if old is not None and outline(old) != outline(after.get(key)):
            return False
    return True


def outline(entry: Any) -> Any:
    """A value or record without the identity of its unknowns and of what it refers to."""
    if isinstance(entry, Const):
        return entry
    if isinstance(entry, Opaque | Num | Prim | Ref):
        return type(entry)
    if isinstance(entry, Tensor):
        return (entry.lib, entry.dtype, _shape(entry.shape))
    if isinstance(entry, Tup):
        return tuple(outline(item) for item in entry.items)
    if isinstance(entry, Union):
        return frozenset(outline(option) for option in entry.options)
    if isinstance(entry, ListRecord):
        return None if entry.items is None else tuple(outline(item) for item in entry.items)
    if isinstance(entry, DictRecord):
        return tuple((key, outline(item)) for key, item in entry.items.items())
    if isinstance(entry, InstanceRecord):
        return tuple((name, outline(item)) for name, item in entry.attrs.items())
    return type(entry)


def _shape(shape: Shape) -> Any:
    if shape.middle is not None:
        return None
    return tuple(_dim(dim) for dim in shape.head)


def _dim(dim: Dim) -> int | None:
    return dim.constant
