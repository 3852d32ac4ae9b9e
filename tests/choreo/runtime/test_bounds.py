"""What arrives takes no more memory than it may, and is of the types that are declared for it."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Literal, NewType, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.choreo.runtime.codec import Codec, Limits
from distml.choreo.runtime.declared import fits, spelled
from distml.choreo.runtime.errors import Malformed

T = TypeVar("T")
Count = NewType("Count", int)
MIB = 1024 * 1024
quick = settings(max_examples=40)


class Color(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Empty: ...


@dataclass
class Typed:
    n: int
    names: list[str]
    color: Color | None = None


@dataclass
class Loose(Generic[T]):
    what: T
    other: Any = None
    later: "NotThere" = None  # type: ignore[name-defined,assignment]  # noqa: F821, UP037


def counted(count: int) -> bytes:
    return struct.pack(">I", count)


def text(value: str) -> bytes:
    return counted(len(value.encode())) + value.encode()


SMALL = [
    *(tag + counted(0) for tag in (b"d", b"l", b"t", b"S", b"Z", b"s", b"b", b"i")),
    *(tag + counted(1) + b"N" for tag in (b"l", b"t", b"S", b"Z")),
    *(b"N", b"T", b"F", b"f" + b"@" * 8, b"c" + b"@" * 16, b"d" + counted(1) + b"NN"),
    *(
        b"i" + counted(2) + b"\x10\x00",
        b"i" + counted(30) + b"\x10" * 30,
        b"s" + text("日"),
        b"s" + text("x" * 40 + "😀"),
    ),
    *(b"E" + text("Color") + text("RED"), b"D" + text("Empty") + b"d" + counted(0)),
]


@quick
@given(st.lists(st.sampled_from(SMALL), min_size=1, max_size=4), st.integers(1, 6), st.integers(100, 2_000))
def test_a_value_takes_no_more_memory_than_it_may(parts: list[bytes], inner: int, count: int) -> None:
    """Any mixture of the values that take most for their bytes, in lists of lists, against what Python really takes."""
    item = b"l" + counted(inner * len(parts)) + b"".join(parts) * inner
    data = b"l" + counted(count) + item * count
    codec = Codec((Color, Empty), Limits(memory=128 * 1024))
    allowed = max(128 * 1024, 10 * len(data))
    tracemalloc.start()
    try:
        codec.decode(data)
    except Malformed as error:
        assert "bytes of memory" in str(error)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak <= allowed + 64 * 1024


@pytest.mark.parametrize("tag", [b"d", b"l", b"S", b"Z"])
def test_two_mebibytes_of_empty_containers_are_refused(tag: bytes) -> None:
    count = 2 * MIB // 5
    with pytest.raises(Malformed, match="33554432 bytes of memory in a message of 2097"):
        Codec().decode(b"l" + counted(count) + (tag + counted(0)) * count)


def test_what_programs_send_is_far_from_the_limit() -> None:
    codec = Codec((Typed, Color))
    for value in (
        [float(number) for number in range(100_000)],
        list(range(100_000)),
        ["word" * 3] * 50_000,
        {f"key {number}": number for number in range(50_000)},
        [[] for _ in range(80_000)],
        [Typed(number, ["a"]) for number in range(5_000)],
        "é" * 500_000,
        b"x" * (15 * MIB),
    ):
        assert codec.decode(codec.encode(value)) == value


HINTS: list[Any] = [
    *(int, float, complex, str, bytes, bool, None, object, Any, Color, Count, T),
    *(list[int], set[str], frozenset[bytes], dict[str, int], tuple[int, str], tuple[int, ...], tuple[()]),
    *(int | None, Literal[1, "a"], Sequence[int], Mapping[str, float], dict[str, list[int | None]]),
    *(list[tuple[str, dict[int, set[str]]]], list, dict, tuple),
]


@quick
@given(st.sampled_from(HINTS), st.data())
def test_no_value_of_a_type_is_refused(hint: Any, data: st.DataObject) -> None:
    made = st.none() if hint in (Any, object, T) else st.from_type(type(None) if hint is None else hint)
    value = data.draw(made)
    assert fits(value, hint)
    assert fits([value, value], list[hint])
    assert fits(value, hint | None if hint not in (None, T, Any, Count) and isinstance(hint, type) else hint)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        *(("3", int), (3.0, int), (None, int), (3, str), (b"", str), ("", bytes), (1j, float), (1, bool), (0, None)),
        *(
            ([1], tuple),
            ((1,), list[int]),
            ([1, "2"], list[int]),
            ({1: 2}, dict[str, int]),
            ({"a": "b"}, dict[str, int]),
        ),
        *(((1,), tuple[int, str]), ((1, 2), tuple[int, str]), ((1, "2"), tuple[int, ...]), ((1,), tuple[()])),
        *((2, Literal[1, "a"]), (True, Literal[1]), (1, Color), (Color.RED, str), (1.5, int | None), ("x", Count)),
        *(([[1], ["2"]], list[list[int]]), (5, Sequence[int]), (["a"], Sequence[int]), ({"a"}, frozenset[str])),
    ],
)
def test_a_value_of_another_type_is_refused(value: Any, hint: Any) -> None:
    assert not fits(value, hint)
    assert not fits({"key": [value]}, dict[str, list[hint]])


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (Typed("not an int", []), "Typed.n is a str, not int"),  # type: ignore[arg-type]
        (Typed(1, [2]), r"Typed.names is a list, not list\[str\]"),  # type: ignore[list-item]
        (Typed(1, [], "RED"), r"Typed.color is a str, not .*Color"),  # type: ignore[arg-type]
        ([{"k": Typed(None, [])}], "Typed.n is a NoneType, not int"),  # type: ignore[arg-type]
    ],
)
def test_fields_hold_what_they_are_declared_to_hold(value: Any, says: str) -> None:
    codec = Codec((Typed, Color))
    with pytest.raises(Malformed, match=says):
        codec.decode(codec.encode(value))


def test_what_a_field_does_not_say_is_not_held_against_it() -> None:
    codec = Codec((Typed, Color, Loose))
    for value in (Typed(1, ["a"], Color.RED), Typed(True, []), Loose(1, "x", [2]), Loose(Typed(1, []))):
        assert codec.decode(codec.encode(value)) == value


def test_types_are_named_as_they_are_written() -> None:
    assert [spelled(hint) for hint in (int, list[int], int | None)] == ["int", "list[int]", "int | None"]
