"""The names choreographies are written with: types for editors and mypy, placeholders at run time.

Statically `At[T, R]` is `T`, so that type checkers see the data; who holds it is for `distml check`. A choreography is
never run itself, its projections are; importing it has no effect.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar, TypeVarTuple

T = TypeVar("T")
S = TypeVar("S")
Rs = TypeVarTuple("Rs")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
H = TypeVar("H")
I = TypeVar("I")  # noqa: E741  (the ninth role)
J = TypeVar("J")
Class = TypeVar("Class", bound=type)
Label = TypeVar("Label", bound=Enum)


class ChoreographyError(Exception):
    """The choreography cannot go on: a party failed, vanished, was too slow or did not keep to the protocol."""


class Role:
    """A party; subclass it to name one. `value @ Client()` places a value at a party."""

    def __rmatmul__(self, value: T) -> T:
        """The value, at this party alone."""
        return value


class _Located(ABCMeta):
    """Lets `AuthResult[Client, Service](...)` name the roles a choreography is used with."""

    def __getitem__(cls: Class, roles: object, /) -> Class:
        return cls


if TYPE_CHECKING:
    from typing_extensions import TypeAliasType

    At = TypeAliasType("At", T, type_params=(T, Rs))

    class Ch(Generic[*Rs], metaclass=_Located):
        """A choreography between these roles."""

    class Ch1(Generic[A], metaclass=_Located): ...  # noqa: D101

    class Ch2(Generic[A, B], metaclass=_Located): ...  # noqa: D101

    class Ch3(Generic[A, B, C], metaclass=_Located): ...  # noqa: D101

    class Ch4(Generic[A, B, C, D], metaclass=_Located): ...  # noqa: D101

    class Ch5(Generic[A, B, C, D, E], metaclass=_Located): ...  # noqa: D101

    class Ch6(Generic[A, B, C, D, E, F], metaclass=_Located): ...  # noqa: D101

    class Ch7(Generic[A, B, C, D, E, F, G], metaclass=_Located): ...  # noqa: D101

    class Ch8(Generic[A, B, C, D, E, F, G, H], metaclass=_Located): ...  # noqa: D101

    class Ch9(Generic[A, B, C, D, E, F, G, H, I], metaclass=_Located): ...  # noqa: D101

    class Ch10(Generic[A, B, C, D, E, F, G, H, I, J], metaclass=_Located): ...  # noqa: D101
else:

    class At:
        """A value at one role, or the same value at each of several."""

        def __class_getitem__(cls, parts):
            return parts[0] if isinstance(parts, tuple) else parts

    class Ch(metaclass=_Located):
        """A choreography between any number of roles."""

    Ch1 = Ch2 = Ch3 = Ch4 = Ch5 = Ch6 = Ch7 = Ch8 = Ch9 = Ch10 = Ch


class _Directed(Generic[T]):
    """A channel from its first role to its second, for values of type `T`."""

    def com(self, value: S, /) -> S:
        """Send a value: the result is at the other end."""
        raise _unprojected()

    def select(self, label: Label, /) -> Label:
        """Tell the other end which branch was taken."""
        raise _unprojected()


class _Symmetric(_Directed[T]):
    """A channel between two roles for both directions."""


if TYPE_CHECKING:
    DiChannel = TypeAliasType("DiChannel", _Directed[T], type_params=(T, A, B))
    Channel = TypeAliasType("Channel", _Symmetric[T], type_params=(T, A, B))
    SymChannel = TypeAliasType("SymChannel", _Symmetric[T], type_params=(T, A, B))
else:

    class DiChannel(_Directed):
        """A channel from `A` to `B` for values of type `T`: `DiChannel[T, A, B]`."""

        def __class_getitem__(cls, parts):
            return cls

    class Channel(DiChannel):
        """A channel between `A` and `B` for both directions: `Channel[T, A, B]`."""

    SymChannel = Channel


def roles(*parties: type[Role]) -> Callable[[S], S]:
    """Names the roles of a function whose signature does not."""

    def mark(function: S) -> S:
        return function

    return mark


def _unprojected() -> Exception:
    return NotImplementedError("a choreography is not run itself: `distml project` writes the program of each party")
