"""What stands in lists, tuples and dictionaries at an index, and what constants come to."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from distml.spmd.values import Instance, Items, Known, Local, Place, Table, Unknown, Value, derived, key, parts

MAX_NUMBER = 1 << 40
WHOLE = "whole"
"""The type of the slice `:`."""
_CUT = re.compile(r"Add|Sub|Mult|FloorDiv|Mod|None:")
"""In the making of a list: it may have been padded, or cut, to what all ranks can share."""


def computed(operation: Callable[..., Any], *given: Known) -> Value:
    """The result of an operation on known values, unknown where it fails or grows large."""
    texts = [each for each in given if isinstance(each.value, str | bytes)]
    unsafe = operation is operator.mul and texts
    numbers = [each.value for each in given if isinstance(each.value, int | float)]
    if not unsafe and all(abs(number) < MAX_NUMBER for number in numbers):
        try:
            result = operation(*(each.value for each in given))
        except Exception:  # whatever the program would raise here, it is not our concern
            return Unknown(f"{operation}({', '.join(map(key, given))})")
        if isinstance(result, int | float | str | bool):
            return Known(result, any(each.assumed for each in given), any(each.ranked for each in given))
    return Unknown(f"{operation}({', '.join(map(key, given))})")


def item(container: Value, index: Value, place: Place) -> Value:
    """`container[index]`."""
    if isinstance(index, Known) and isinstance(container, Items | Table) and container.exact:
        try:
            found: Value = container.members[index.value]  # type: ignore[index]
        except (LookupError, TypeError):
            return Unknown(f"{key(container)}[{key(index)}]")
        return found
    if isinstance(container, Known) and isinstance(index, Known) and isinstance(container.value, str):
        return computed(operator.getitem, container, index)
    last = container.members.get(index.value) if isinstance(container, Table) and isinstance(index, Known) else None
    found = derived(f"{key(container)}[{key(index)}]", container if last is None else last, index)
    if isinstance(container, Items | Table):
        several = container.members if isinstance(container, Items) else container.members.values()
        each = [one.each for one in several if isinstance(one, Unknown) and one.each is not None]
        found.each = derived(f"{found.key}[…]", *each) if each else None
    found.uneven = None if _CUT.search(key(container)) else _stride(index, place)
    return found


def kept(container: Value, index: Value) -> Instance | None:
    """The object that a container has under an index although not all is known that it holds: the one that was put there last."""
    if not isinstance(container, Items | Table) or container.exact:
        return None
    if isinstance(container, Table) and isinstance(index, Known):
        named = container.members.get(index.value, container.members.get("…"))
        held = [named] if named is not None else []
    else:
        held = list(container.members.values() if isinstance(container, Table) else container.members)
    objects = [each for each in held if isinstance(each, Instance)]
    return objects[-1] if objects and len(objects) == len(held) else None


def holds_objects(container: Items | Table) -> bool:
    """Whether a container holds objects, or pairs of a key and an object."""
    several = container.members.values() if isinstance(container, Table) else container.members
    return any(isinstance(part, Instance) for each in several for part in parts(each))


def _stride(index: Value, place: Place) -> Local | None:
    """Why two ranks may get different numbers of members: `x[rank::size]`."""
    strided = isinstance(index, Unknown) and index.type == "slice by rank"
    return (
        Local("each rank has its own part of the data, and the parts may differ in length", place) if strided else None
    )
