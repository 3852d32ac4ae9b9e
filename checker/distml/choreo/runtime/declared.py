"""Whether a value that arrived is of the type that was declared for it.

Only what the value certainly contradicts is refused: hints that say nothing at run time (a `TypeVar`, a protocol, a name
that cannot be resolved) hold anything.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Any

_WIDER: dict[type, tuple[type, ...]] = {float: (float, int), complex: (complex, float, int), NoneType: (NoneType,)}


def fits(value: object, hint: Any) -> bool:
    """Whether `value` may be called one of `hint`, elements of containers included."""
    if isinstance(hint, typing.NewType):
        return fits(value, hint.__supertype__)
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin in (typing.Union, UnionType):
        return any(fits(value, each) for each in arguments)
    if origin is typing.Literal:
        return any(type(value) is type(each) and value == each for each in arguments)
    if origin is typing.Annotated:
        return fits(value, arguments[0])
    if origin is not None:
        return _is(value, origin) and _parts_fit(value, origin, arguments)
    return _is(value, NoneType if hint is None else hint)


def _is(value: object, kind: Any) -> bool:
    if not isinstance(kind, type):
        return True
    try:
        return isinstance(value, _WIDER.get(kind, kind))
    except TypeError:  # a protocol that says nothing at run time
        return True


def _parts_fit(value: Any, origin: Any, arguments: tuple[Any, ...]) -> bool:
    if isinstance(value, Mapping) and len(arguments) == 2:
        return _all(value, arguments[0]) and _all(value.values(), arguments[1])
    if origin is tuple and arguments[-1:] != (Ellipsis,):
        return len(value) == len(arguments) and all(map(fits, value, arguments))
    if isinstance(value, list | tuple | set | frozenset) and arguments:
        return _all(value, arguments[0])
    return True


def _all(values: Iterable[object], hint: Any) -> bool:
    if type(hint) is type:  # nothing but classes decides, and there are fewer of them than of values
        return all(issubclass(kind, _WIDER.get(hint, hint)) for kind in set(map(type, values)))
    return all(fits(value, hint) for value in values)


def fields_of(kind: type) -> Mapping[str, Any]:
    """The hints of a dataclass's fields; those that cannot be resolved are left out."""
    try:
        return typing.get_type_hints(kind)
    except Exception:  # names that exist for type checkers alone, or anything else that a hint may raise
        return {name: hint for name, hint in _own(kind) if not isinstance(hint, str)}


def _own(kind: type) -> Iterable[tuple[str, Any]]:
    for each in reversed(kind.__mro__):
        yield from get_annotations(each).items()


def spelled(hint: Any) -> str:
    """A hint as it is written in source."""
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint).replace("typing.", "")
