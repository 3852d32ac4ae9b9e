"""The codec gives back what it was given, and of bytes of strangers builds nothing but what they say."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distml.choreo.runtime.codec import Codec, Limits
from distml.choreo.runtime.errors import Malformed
from distml.choreo.runtime.frames import Abort, Bye, Label, Value, pack, unpack

quick = settings(max_examples=90)


class Color(Enum):
    RED = 1
    BLUE = "b"


class Level(IntEnum):
    LOW = 1


class Rights(Flag):
    READ = 1
    WRITE = 2


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any
    twice: Any = field(init=False, default=None)


@dataclass
class Positive:
    value: int

    def __post_init__(self) -> None:
        if self.value <= 0:
            raise ValueError("not positive")


CODEC = Codec((Color, Level, Rights, Point, Positive))

hashable = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text(st.characters())
    | st.binary()
    | st.sampled_from([*Color, *Level, *Rights]),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner) | st.builds(Point, inner, inner),
    max_leaves=6,
)
values = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(hashable, inner)
        | st.sets(hashable)
        | st.tuples(inner)
        | st.builds(Point, inner, inner)
    ),
    max_leaves=20,
)


def kinds(value: Any) -> Any:
    """A value with the classes of everything in it, for 1, 1.0, True and Level.LOW are equal."""
    match value:
        case list() | tuple():
            return type(value), [kinds(item) for item in value]
        case dict():
            return dict, [(kinds(key), kinds(item)) for key, item in value.items()]
        case set() | frozenset():
            return type(value), sorted(repr(kinds(item)) for item in value)
        case Point():
            return Point, kinds(value.x), kinds(value.y)
    return type(value), repr(value)


@quick
@given(values)
@example("\ud800")
@example(-(2**63))
@example(2**5000)
@example(-0.0)
@example([{"a": ({1}, frozenset())}])
def test_what_is_written_is_read(value: Any) -> None:
    again = CODEC.decode(CODEC.encode(value))
    assert again == value
    assert kinds(again) == kinds(value)


def test_not_a_number() -> None:
    assert math.isnan(CODEC.decode(CODEC.encode(math.nan)))


@quick
@given(st.binary())
@example(b"")
@example(b"l\xff\xff\xff\xff")
@example(b"d\x00\x00\x00\x01l\x00\x00\x00\x00N")
def test_bytes_of_strangers_are_a_value_or_malformed(data: bytes) -> None:
    try:
        CODEC.decode(data)
    except Malformed:
        return


@quick
@given(values, st.data())
def test_a_spoiled_message_is_a_value_or_malformed(value: Any, data: st.DataObject) -> None:
    message = bytearray(CODEC.encode(value))
    for _ in range(data.draw(st.integers(1, 4))):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    try:
        CODEC.decode(bytes(message))
    except Malformed:
        return


@quick
@given(values, st.data())
def test_a_message_cut_short_is_malformed(value: Any, data: st.DataObject) -> None:
    message = CODEC.encode(value)
    with pytest.raises(Malformed):
        CODEC.decode(message[: data.draw(st.integers(0, len(message) - 1))])


def text(data: str) -> bytes:
    return struct.pack(">I", len(data)) + data.encode()


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"N" + b"N", "1 bytes after the end"),
        (b"?", "unknown tag 0x3f at byte 0"),
        (b"\x80\x04", "unknown tag 0x80"),  # how a pickle begins
        (b"s\x00\x00\x00\x09abc", "9 bytes announced at byte 5, 3 are left"),
        (b"l\x7f\xff\xff\xff", "2147483647 items announced, 0 bytes are left"),
        (b"d\x00\x00\x00\x02NNN", "2 entries announced, 3 bytes are left"),
        (b"s\x00\x00\x00\x01\xff", "no UTF-8"),
        (b"E" + text("Color") + text("GREEN"), "Color has no member GREEN"),
        (b"E" + text("Color") + text("__class__"), "Color has no member __class__"),
        (b"E" + text("Point") + text("x"), "Point is no enum"),
        (b"E" + text("os.system") + text("x"), "os.system is not in WIRE"),
        (b"D" + text("Popen") + b"d\x00\x00\x00\x00", "Popen is not in WIRE"),
        (b"D" + text("Color") + b"d\x00\x00\x00\x00", "Color is no dataclass"),
        (b"D" + text("Point") + b"d\x00\x00\x00\x00", "Point has the fields x, y"),
        (b"D" + text("Point") + b"N", "Point without fields"),
        (b"D" + text("Positive") + b"d\x00\x00\x00\x01s" + text("value") + b"i\x00\x00\x00\x01\xff", "not positive"),
        (b"S\x00\x00\x00\x01l\x00\x00\x00\x00", "a set of such items cannot be"),
        (b"S\x00\x00\x00\x02NN", "equal items"),
        (b"d\x00\x00\x00\x01l\x00\x00\x00\x00N", "such keys cannot be"),
        (b"d\x00\x00\x00\x02NNNN", "equal keys"),
        (b"l\x00\x00\x00\x01" * 65 + b"N", "nested deeper than 64"),
        (b"E" + text("\x1b[2J") + text("x"), r"\\x1b\[2J is not in WIRE"),
    ],
)
def test_malformed_messages_are_refused_with_the_reason(message: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        CODEC.decode(message)


def test_keys_chosen_to_collide_are_refused() -> None:
    colliding = [index * (2**61 - 1) for index in range(20_000)]
    for value in (dict.fromkeys(colliding[:1000]), set(colliding[:1000])):
        with pytest.raises(Malformed, match="more than 64 keys with one hash"):
            CODEC.decode(CODEC.encode(value))
    assert CODEC.decode(CODEC.encode(colliding)) == colliding
    assert CODEC.decode(CODEC.encode(set(range(20_000)))) == set(range(20_000))


def test_a_frame_over_the_limit_is_not_read() -> None:
    with pytest.raises(Malformed, match="the limit is 20000"):
        Codec(limits=Limits(message=20000)).decode(b"b" + struct.pack(">I", 30000) + b"x" * 30000)


def test_what_cannot_be_sent_is_refused_at_the_sender() -> None:
    @dataclass
    class Other:
        value: int

    itself: list[Any] = []
    itself.append(itself)
    for value in (object(), print, Other(1), [Other], Exception("x"), Rights.READ | Rights.WRITE):
        with pytest.raises(TypeError, match="cannot be sent"):
            CODEC.encode(value)
    with pytest.raises(ValueError, match="nested deeper than 64 levels"):
        CODEC.encode(itself)
    with pytest.raises(ValueError, match="the limit is 20000"):
        Codec(limits=Limits(message=20000)).encode("x" * 20000)


def test_a_class_of_the_same_name_is_not_the_one_in_wire() -> None:
    other = dataclass(type("Point", (), {"__annotations__": {"x": int}, "x": 1}))
    with pytest.raises(TypeError, match="Point cannot be sent"):
        CODEC.encode(other())
    with pytest.raises(TypeError, match="two classes called Point"):
        Codec((Point, other))


def test_of_the_classes_in_wire_only_enums_and_dataclasses_are_built() -> None:
    codec = Codec((Exception, Color))
    with pytest.raises(
        TypeError, match="Exception cannot be sent: it is neither plain data, nor an enum or a dataclass"
    ):
        codec.encode(Exception())
    with pytest.raises(Malformed, match="Exception is not in WIRE"):
        codec.decode(b"D" + text("Exception") + b"d\x00\x00\x00\x00")


@pytest.mark.parametrize("wrong", [{"message": 1}, {"message": 2**40}, {"nesting": 0}, {"nesting": 5000}])
def test_limits_that_could_not_hold_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be between"):
        Limits(**wrong)


@pytest.mark.parametrize("frame", [Value([1]), Label("Color", "RED"), Abort("A", "broke"), Bye()])
def test_frames_are_read_as_written(frame: Any) -> None:
    assert unpack(pack(frame, CODEC), CODEC) == frame


@quick
@given(st.binary(max_size=40))
def test_frames_of_strangers_are_a_frame_or_malformed(data: bytes) -> None:
    for kind in (b"", b"V", b"L", b"A", b"B"):
        try:
            unpack(kind + data, CODEC)
        except Malformed:
            continue


def test_a_label_is_of_its_enum_alone() -> None:
    assert Label("Color", "RED").of(Color) is Color.RED
    assert Label("Color", "GREEN").of(Color) is None
    assert Label("Level", "RED").of(Color) is None
