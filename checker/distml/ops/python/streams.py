"""What is written into memory and read again: `io.BytesIO`, `pickle`, and what libraries save there.

A stream holds copies of what was saved, one after the other. Where other bytes may have come in between, nothing is known of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.python.copying import deep_copies
from distml.ops.registry import layer, op
from distml.values import Const, InstanceRecord, IteratorRecord, Num, Ref, Tup

if TYPE_CHECKING:
    from distml.values import Value

CLASS = "io.BytesIO"
_WRITTEN, _PLACE = "__written__", "__place__"
"""The attributes of a stream: what was saved, which is forgotten with all that unknown code may have read, and how many of
these stand in front of where it is read or written next."""
BYTES = "bytes"
"""The fact that says what the bytes are that an unknown value stands for."""


@layer(CLASS)
class BytesIO:
    """io.BytesIO(initial_bytes): https://docs.python.org/3/library/io.html#io.BytesIO"""

    @staticmethod
    def init(call: Call, initial_bytes: Value = NONE) -> dict[str, Value]:
        """A stream at its beginning."""
        empty = initial_bytes in (NONE, Const(b""))
        held = Tup(()) if empty else call.world.get((BYTES, initial_bytes))
        items = held.items if isinstance(held, Tup) else None
        return {_WRITTEN: call.world.allocate(IteratorRecord(items)), _PLACE: Const(0)}


def _state(call: Call, stream: Value) -> tuple[InstanceRecord, tuple[Value, ...], int] | None:
    """A stream's record, what was saved there, and where it stands; None where that is not known."""
    record = call.world.record(stream) if isinstance(stream, Ref) else None
    if not isinstance(record, InstanceRecord):
        return None
    held, place = record.attrs.get(_WRITTEN, NONE), record.attrs.get(_PLACE, NONE)
    written = call.world.record(held) if isinstance(held, Ref) else None
    if not isinstance(written, IteratorRecord) or written.items is None or not isinstance(place, Const):
        return None
    return record, written.items, int(place.value)


def _leave(call: Call, stream: Value, items: tuple[Value, ...] | None, place: int) -> None:
    record = call.world.record(stream) if isinstance(stream, Ref) else None
    if isinstance(stream, Ref) and isinstance(record, InstanceRecord) and _WRITTEN in record.attrs:
        written = call.world.allocate(IteratorRecord(items))
        call.world.replace(stream, record.having({_WRITTEN: written, _PLACE: Const(place)}))


def written_to(call: Call, stream: Value, value: Value) -> None:
    """A value was saved to a stream, as it is now: what is written over other bytes may leave some of these behind it."""
    known = _state(call, stream)
    if known is None:
        return
    _, items, place = known
    kept = (*items, *deep_copies(call, (value,))) if place == len(items) else None
    _leave(call, stream, kept, place + 1)


def read_from(call: Call, stream: Value, alone: bool = False) -> Value:
    """What was saved where a stream stands; `alone` where a format can be read only if nothing else was saved there."""
    known = _state(call, stream)
    if known is None or known[2] >= len(known[1]) or (alone and len(known[1]) > 1):
        _leave(call, stream, None, 0)
        return call.unknown("loaded")
    _, items, place = known
    _leave(call, stream, items, place + 1)
    return deep_copies(call, (items[place],))[0]


@op(f"{CLASS}.seek")
def seek(call: Call, self: Value, offset: Value, whence: Value = Const(0)) -> Value:
    """stream.seek(offset, whence): to its beginning or its end"""
    known = _state(call, self)
    if known is not None:
        _, items, _ = known
        places: dict[tuple[Value, Value], int] = {(Const(0), Const(0)): 0, (Const(0), Const(2)): len(items)}
        place = places.get((offset, whence))
        _leave(call, self, items if place is not None else None, place or 0)
    return Num(call.symbol("position"))


@op(f"{CLASS}.truncate")
def truncate(call: Call, self: Value, size: Value = NONE) -> Value:
    """stream.truncate(): what stands behind its place is gone"""
    known = _state(call, self)
    if known is not None:
        _, items, place = known
        kept = items[:place] if size == NONE else () if size == Const(0) else None
        _leave(call, self, kept, min(place, len(kept or ())))
    return Num(call.symbol("size"))


@op(f"{CLASS}.getvalue", f"{CLASS}.getbuffer")
def getvalue(call: Call, self: Value) -> Value:
    """stream.getvalue(): all of it"""
    known = _state(call, self)
    return call.unknown("bytes") if known is None else bytes_of(call, known[1])


@op(f"{CLASS}.read")
def read(call: Call, self: Value, size: Value = Const(-1), /) -> Value:
    """stream.read(): what is left of it"""
    known = _state(call, self)
    if known is None or size not in (Const(-1), NONE):
        _leave(call, self, None, 0)
        return call.unknown("bytes")
    _, items, place = known
    _leave(call, self, items, len(items))
    return bytes_of(call, items[place:])


@op(f"{CLASS}.__enter__")
def enter(call: Call, self: Value) -> Value:
    """with stream: the stream itself"""
    return self


@op(f"{CLASS}.__exit__", f"{CLASS}.close", f"{CLASS}.flush")
def nothing(call: Call, self: Value, *args: Value) -> Value:
    """stream.flush() and what else changes nothing in it"""
    return NONE


@op(f"{CLASS}.tell")
def tell(call: Call, self: Value) -> Value:
    """stream.tell(): the bytes in front of its place"""
    return Num(call.symbol("position"))


def bytes_of(call: Call, items: tuple[Value, ...]) -> Value:
    """Bytes that hold what was saved."""
    found = call.unknown("bytes")
    call.world.put((BYTES, found), Tup(items))
    return found


@op("pickle.dumps")
def dumps(call: Call, obj: Value, *args: Value, **options: Value) -> Value:
    """pickle.dumps(obj): https://docs.python.org/3/library/pickle.html#pickle.dumps"""
    return bytes_of(call, deep_copies(call, (obj,)))


@op("pickle.loads")
def loads(call: Call, data: Value, /, **options: Value) -> Value:
    """pickle.loads(data): https://docs.python.org/3/library/pickle.html#pickle.loads"""
    held = call.world.get((BYTES, data))
    known = isinstance(held, Tup) and held.items
    return deep_copies(call, held.items[:1])[0] if known else call.unknown("loaded")


@op("pickle.dump")
def dump(call: Call, obj: Value, file: Value, *args: Value, **options: Value) -> Value:
    """pickle.dump(obj, file): https://docs.python.org/3/library/pickle.html#pickle.dump"""
    written_to(call, file, obj)
    return NONE


@op("pickle.load")
def load(call: Call, file: Value, **options: Value) -> Value:
    """pickle.load(file): https://docs.python.org/3/library/pickle.html#pickle.load"""
    return read_from(call, file)
