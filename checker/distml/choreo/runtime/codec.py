"""Values to bytes and back, without ever running what was received.

A value is one tag byte and its contents. Only plain data can be written, and the enums and dataclasses a program names in
`WIRE`; a received name is looked up among those and nowhere else, so bytes choose neither a module nor a function. Every
length is compared with the bytes that are there before anything is built, nesting is bounded, and so is the memory of what
is built: five bytes make an empty set, which takes over 200. Fields of dataclasses hold what they are declared to hold.
"""

from __future__ import annotations

import dataclasses
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from distml.choreo.runtime.declared import fields_of, fits, spelled
from distml.choreo.runtime.errors import Malformed
from distml.diagnostics.printable import safe_text

LONGEST_REASON = 2000  # characters of an error that peers are told

_LENGTH = struct.Struct(">I")
_DOUBLE = struct.Struct(">d")
_DEEPEST = 200  # each level takes a few frames of Python's own stack
_SAME_HASH = 64
_SMALLEST = 16 * 1024  # the reason of a failure must always fit


@dataclasses.dataclass(frozen=True)
class Limits:
    """The largest message in bytes, and how deep containers in it may be nested (at most 200).

    `memory` is what the value of a message may take, in bytes: so much, or ten times the length of the message where that
    is more.
    """

    message: int = 16 * 1024 * 1024
    nesting: int = 64
    memory: int = 32 * 1024 * 1024

    def __post_init__(self) -> None:
        if not _SMALLEST <= self.message < 2**32:
            raise ValueError(f"a message of at most {self.message} bytes: must be between {_SMALLEST} and 4294967295")
        if not 0 < self.nesting <= _DEEPEST:
            raise ValueError(f"nesting of at most {self.nesting}: must be between 1 and {_DEEPEST}")
        if self.memory < _SMALLEST:
            raise ValueError(f"memory of at most {self.memory} bytes: must be {_SMALLEST} or more")


class Codec:
    """Writes and reads values within limits; of the classes in `wire` it may build the enums and dataclasses, by name."""

    def __init__(self, wire: Iterable[type] = (), limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.wire: dict[str, type] = {}
        self._fields: dict[type, Mapping[str, Any]] = {}
        for kind in wire:
            self._allow(kind)

    def _allow(self, kind: type) -> None:
        if not (issubclass(kind, Enum) or dataclasses.is_dataclass(kind)):
            return  # local code of the program, which stays with its party
        if self.wire.setdefault(kind.__name__, kind) is not kind:
            raise TypeError(f"WIRE names two classes called {kind.__name__}")

    def fields(self, kind: type) -> Mapping[str, Any]:
        """The types that the fields of a dataclass are declared with, by name."""
        if kind not in self._fields:
            self._fields[kind] = fields_of(kind)
        return self._fields[kind]

    def encode(self, value: object) -> bytes:
        """The bytes of a value.

        Raises TypeError for a class that cannot be sent, ValueError where a limit is exceeded (a value that contains
        itself exceeds the nesting).
        """
        out = bytearray()
        _Writer(self, out).write(value, self.limits.nesting)
        if len(out) > self.limits.message:
            raise ValueError(f"a message of {len(out)} bytes: the limit is {self.limits.message}")
        return bytes(out)

    def decode(self, data: bytes) -> Any:
        """The value of these bytes, all of them. Raises Malformed, and nothing else, for bytes that are no value."""
        if len(data) > self.limits.message:
            raise Malformed(f"a message of {len(data)} bytes: the limit is {self.limits.message}")
        reader = _Reader(self, data)
        value = reader.read(self.limits.nesting)
        if reader.position != len(data):
            raise Malformed(f"{len(data) - reader.position} bytes after the end of the value")
        return value


def init_fields(kind: type) -> list[str]:
    """The fields of a dataclass that its constructor takes; the others are its own business."""
    return [field.name for field in dataclasses.fields(kind) if field.init]


class _Writer:
    """One message being written."""

    def __init__(self, codec: Codec, out: bytearray) -> None:
        self.codec = codec
        self.out = out

    def write(self, value: object, depth: int) -> None:
        if depth < 0:
            raise ValueError(f"a value nested deeper than {self.codec.limits.nesting} levels cannot be sent")
        put = _PUT.get(type(value))
        if put is not None:
            put(self, value, depth)
        elif self.codec.wire.get(type(value).__name__) is type(value):
            self._instance(value, depth)
        else:
            name = type(value).__name__
            raise TypeError(
                f"a value of class {name} cannot be sent: it is neither plain data, nor an enum or a dataclass in WIRE"
            )

    def _instance(self, value: object, depth: int) -> None:
        name = type(value).__name__
        if isinstance(value, Enum):
            if value.name not in type(value).__members__:
                raise TypeError(f"{value!r} cannot be sent: it is no single member of {name}")
            self.out += b"E"
            self._bytes(name.encode())
            self._bytes(value.name.encode())
            return
        self.out += b"D"
        self._bytes(name.encode())
        self.mapping({field: getattr(value, field) for field in init_fields(type(value))}, depth)

    def _bytes(self, data: bytes) -> None:
        self.out += _LENGTH.pack(len(data))
        self.out += data

    def constant(self, value: object, _: int) -> None:
        self.out += {None: b"N", True: b"T", False: b"F"}[value]  # type: ignore[index]

    def integer(self, value: int, _: int) -> None:
        self.out += b"i"
        self._bytes(value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))

    def real(self, value: float, _: int) -> None:
        self.out += b"f" + _DOUBLE.pack(value)

    def compound(self, value: complex, _: int) -> None:
        self.out += b"c" + _DOUBLE.pack(value.real) + _DOUBLE.pack(value.imag)

    def text(self, value: str, _: int) -> None:
        self.out += b"s"
        self._bytes(value.encode("utf-8", "surrogatepass"))

    def octets(self, value: bytes, _: int) -> None:
        self.out += b"b"
        self._bytes(value)

    def items(self, value: Iterable[object], depth: int) -> None:
        found = list(value)
        self.out += _TAG[type(value)] + _LENGTH.pack(len(found))
        for item in found:
            self.write(item, depth - 1)

    def mapping(self, value: Mapping[Any, Any], depth: int) -> None:
        self.out += b"d" + _LENGTH.pack(len(value))
        for key, item in value.items():
            self.write(key, depth - 1)
            self.write(item, depth - 1)


_TAG: dict[type, bytes] = {list: b"l", tuple: b"t", set: b"S", frozenset: b"Z"}
_PUT: dict[type, Callable[[_Writer, Any, int], None]] = {
    type(None): _Writer.constant,
    bool: _Writer.constant,
    int: _Writer.integer,
    float: _Writer.real,
    complex: _Writer.compound,
    str: _Writer.text,
    bytes: _Writer.octets,
    dict: _Writer.mapping,
    **dict.fromkeys(_TAG, _Writer.items),
}


class _Reader:
    """One message being read."""

    def __init__(self, codec: Codec, data: bytes) -> None:
        self.codec = codec
        self.data = data
        self.position = 0
        self.room = max(codec.limits.memory, _RATIO * len(data))

    def read(self, depth: int) -> Any:
        if depth < 0:
            raise Malformed(f"a value nested deeper than {self.codec.limits.nesting} levels")
        tag = self._take(1)
        get = _GET.get(tag)
        if get is None:
            raise Malformed(f"unknown tag 0x{tag.hex()} at byte {self.position - 1}")
        self._takes(_COST[tag])
        return get(self, depth)

    def _takes(self, count: int) -> None:
        """Count the memory of what is about to be built."""
        self.room -= count
        if self.room < 0:
            limit = max(self.codec.limits.memory, _RATIO * len(self.data))
            raise Malformed(f"a value of more than {limit} bytes of memory in a message of {len(self.data)} bytes")

    def _take(self, count: int) -> bytes:
        left = len(self.data) - self.position
        if count > left:
            raise Malformed(f"{count} bytes announced at byte {self.position}, {left} are left")
        self.position += count
        return self.data[self.position - count : self.position]

    def _double(self) -> float:
        value: float = _DOUBLE.unpack(self._take(8))[0]
        return value

    def _length(self) -> int:
        length: int = _LENGTH.unpack(self._take(4))[0]
        return length

    def octets(self, _: int = 0) -> bytes:
        data = self._take(self._length())
        self._takes(len(data))
        return data

    def integer(self, _: int) -> int:
        return int.from_bytes(self.octets(), "big", signed=True)

    def text(self, _: int = 0) -> str:
        data = self.octets()
        if not data.isascii():
            self._takes(3 * len(data))  # one character may make all of them four bytes wide
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Malformed(f"text that is no UTF-8: {error.reason}") from None

    def items(self, depth: int) -> list[Any]:
        count = self._length()
        if count > len(self.data) - self.position:
            raise Malformed(f"{count} items announced, {len(self.data) - self.position} bytes are left")
        return [self.read(depth - 1) for _ in range(count)]

    def hashed(self, depth: int) -> frozenset[Any]:
        found = self.items(depth)
        self._takes(_ENTRY * len(found))
        try:
            _spread(found)
            unique = frozenset(found)
        except TypeError as error:
            raise Malformed(f"a set of such items cannot be: {error}") from None
        if len(unique) != len(found):
            raise Malformed("a set with equal items")
        return unique

    def mapping(self, depth: int) -> dict[Any, Any]:
        count = self._length()
        if 2 * count > len(self.data) - self.position:
            raise Malformed(f"{count} entries announced, {len(self.data) - self.position} bytes are left")
        self._takes(_ENTRY * count)
        keys, values = [], []
        for _ in range(count):
            keys.append(self.read(depth - 1))
            values.append(self.read(depth - 1))
        try:
            _spread(keys)
            found = dict(zip(keys, values))
        except TypeError as error:
            raise Malformed(f"a dictionary with such keys cannot be: {error}") from None
        if len(found) != count:
            raise Malformed("a dictionary with equal keys")
        return found

    def member(self, _: int) -> Enum:
        kind, name = self._known(), self.text()
        if not issubclass(kind, Enum):
            raise Malformed(f"{kind.__name__} is no enum here")
        if name not in kind.__members__:
            raise Malformed(f"{kind.__name__} has no member {shown(name)}")
        return kind.__members__[name]

    def record(self, depth: int) -> Any:
        kind = self._known()
        if issubclass(kind, Enum):
            raise Malformed(f"{kind.__name__} is no dataclass here")
        if self._take(1) != b"d":
            raise Malformed(f"{kind.__name__} without fields")
        values = self.mapping(depth)
        expected = init_fields(kind)
        if set(values) != set(expected):
            raise Malformed(f"{kind.__name__} has the fields {', '.join(expected)}; others arrived")
        for name, hint in self.codec.fields(kind).items():
            if name in values and not fits(values[name], hint):
                raise Malformed(f"{kind.__name__}.{name} is a {type(values[name]).__name__}, not {spelled(hint)}")
        return self._built(kind, values)

    @staticmethod
    def _built(kind: type, values: dict[str, Any]) -> Any:
        """The instance; its own `__post_init__` may refuse values, and that is the sender's fault."""
        try:
            return kind(**values)
        except Exception as error:
            raise Malformed(f"{kind.__name__} refuses its fields: {shown(str(error))}") from error

    def _known(self) -> type:
        name = self.text()
        kind = self.codec.wire.get(name)
        if kind is None:
            raise Malformed(f"{shown(name)} is not in WIRE")
        return kind


_GET: dict[bytes, Callable[[_Reader, int], Any]] = {
    b"N": lambda reader, depth: None,
    b"T": lambda reader, depth: True,
    b"F": lambda reader, depth: False,
    b"i": _Reader.integer,
    b"f": lambda reader, depth: reader._double(),
    b"c": lambda reader, depth: complex(reader._double(), reader._double()),
    b"s": _Reader.text,
    b"b": _Reader.octets,
    b"l": _Reader.items,
    b"t": lambda reader, depth: tuple(reader.items(depth)),
    b"S": lambda reader, depth: set(reader.hashed(depth)),
    b"Z": _Reader.hashed,
    b"d": _Reader.mapping,
    b"E": _Reader.member,
    b"D": _Reader.record,
}


# Bytes of memory that a value takes at most, its place in a container included but not what it contains.
_COST = dict.fromkeys(_GET, 112) | dict.fromkeys((b"N", b"T", b"F", b"E"), 9) | {b"i": 41, b"f": 33, b"c": 41}
_COST |= {b"s": 85, b"b": 42, b"S": 240, b"Z": 240, b"D": 360}
_ENTRY = 104  # bytes of an entry of a set or dictionary
_RATIO = 10


def _spread(keys: list[Any]) -> None:
    """Refuse keys chosen to have one hash, which would make a table of them take time that grows with their square."""
    hashes = Counter(map(hash, keys))
    if hashes and hashes.most_common(1)[0][1] > _SAME_HASH:
        raise Malformed(f"more than {_SAME_HASH} keys with one hash")


def shown(text: str, longest: int = 500) -> str:
    """Text of a peer, fit for a message or a terminal: what is not seen is escaped, and it is not longer than this."""
    safe = safe_text(text[:longest])
    return safe[:longest] + ("..." if max(len(text), len(safe)) > longest else "")
