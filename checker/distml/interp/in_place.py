"""Which object a call gives: its receiver, changed in place, one of its arguments, or a new one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.values import Tensor, Value, objects_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_in_place(name: str) -> bool:
    """Whether a method changes its receiver, and gives it."""
    last = name.rpartition(".")[2]
    return last.startswith("__i") if last.startswith("__") else last.endswith("_")


def perhaps_given(result: Tensor, values: Sequence[Value]) -> Tensor:
    """The result of a call that works on nothing in place: of an argument's shape, it may be the argument itself."""
    alike = [v for v in values if isinstance(v, Tensor) and (v is result or v.shape == result.shape)]
    if not alike:
        return result
    made = result.copied(*alike)
    # What a layer inside made stays that one's; what the call was given and gives back is its own.
    return made if any(v is result for v in alike) else replace(made, met=objects_of(result))
