"""What parties say to each other: a value, a label, that they failed, that they finished.

A frame is one byte for its kind and a value of the codec. How frames are kept apart is up to the transport.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from distml.choreo.runtime.codec import LONGEST_REASON, Codec, shown
from distml.choreo.runtime.errors import Malformed

E = TypeVar("E", bound=Enum)


@dataclass(frozen=True)
class Value:
    """What `com` sends."""

    value: Any

    def __str__(self) -> str:
        return f"a value of class {type(self.value).__name__}"


@dataclass(frozen=True)
class Label:
    """What `select` sends: an enum and one of its members, by name."""

    enumeration: str
    member: str

    def __str__(self) -> str:
        return f"the label {shown(self.enumeration)}.{shown(self.member)}"

    def of(self, enumeration: type[E]) -> E | None:
        """The member of this enum, or None where the label is of another enum or no member."""
        return enumeration.__members__.get(self.member) if self.enumeration == enumeration.__name__ else None


@dataclass(frozen=True)
class Abort:
    """A party failed: which, and with what."""

    role: str
    message: str


@dataclass(frozen=True)
class Bye:
    """The sender finished its part; without this word a closed connection is a failure."""

    def __str__(self) -> str:
        return "that it has finished"


Frame = Value | Label | Abort | Bye


def pack(frame: Frame, codec: Codec) -> bytes:
    """The bytes of a frame. Raises what `Codec.encode` raises."""
    match frame:
        case Value(value):
            return b"V" + codec.encode(value)
        case Label(enumeration, member):
            return b"L" + codec.encode((enumeration, member))
        case Abort(role, message):
            return b"A" + codec.encode((shown(role), shown(message, LONGEST_REASON)))
        case Bye():
            return b"B"


def unpack(data: bytes, codec: Codec) -> Frame:
    """The frame of these bytes. Raises Malformed."""
    kind, contents = data[:1], data[1:]
    if kind == b"V":
        return Value(codec.decode(contents))
    if kind == b"L":
        return Label(*_two_texts(contents, codec))
    if kind == b"A":
        role, message = _two_texts(contents, codec)
        return Abort(shown(role), shown(message, LONGEST_REASON))
    if data == b"B":
        return Bye()
    raise Malformed(f"unknown kind of message 0x{kind.hex()}")


def _two_texts(contents: bytes, codec: Codec) -> tuple[str, str]:
    match codec.decode(contents):
        case (str(first), str(second)):
            return first, second
    raise Malformed("two strings were expected")
