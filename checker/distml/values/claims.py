"""Values whose type only an annotation tells.

`x: torch.Tensor` says how the author thinks of `x`, so its shape may be asked for. It proves nothing: `isinstance`,
`hasattr`, `is None` and `len` are often there because something else comes too. So what a claim says decides none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from distml.values.model import Num, Prim, Tensor, Tup, Value


@dataclass(slots=True, unsafe_hash=True)
class ClaimedTensor(Tensor):
    """A parameter annotated as a tensor or array."""


@dataclass(slots=True, unsafe_hash=True)
class ClaimedNum(Num):
    """One annotated as an integer."""


@dataclass(slots=True, unsafe_hash=True)
class ClaimedPrim(Prim):
    """One annotated as a string or truth value."""


@dataclass(slots=True, unsafe_hash=True)
class ClaimedTup(Tup):
    """One annotated as a tuple of so many items."""


Claimed = ClaimedTensor | ClaimedNum | ClaimedPrim | ClaimedTup
"""Values of which only an annotation says that they are of their kind."""

_CLAIMED: dict[type[Value], type[Value]] = {
    Tensor: ClaimedTensor,
    Num: ClaimedNum,
    Prim: ClaimedPrim,
    Tup: ClaimedTup,
}
_BELIEVED = {claimed: plain for plain, claimed in _CLAIMED.items()}


def claimed(value: Value) -> Value:
    """The value as an annotation alone tells it."""
    return _made(value, _CLAIMED)


def believed(value: Value) -> Value:
    """The value as something else than an annotation tells it."""
    return _made(value, _BELIEVED)


def _made(value: Value, kinds: dict[type[Value], type[Value]]) -> Value:
    kind = kinds.get(type(value))
    if kind is None:
        return value
    return kind(*(getattr(value, field.name) for field in fields(value)))  # type: ignore[arg-type]
