"""Strings and bytes: their methods, computed exactly on constants of bearable size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.ops.call import Call
from distml.ops.python.folding import MAX_TEXT, compute, format_is_small, lift, python
from distml.ops.python.iterating import drawn
from distml.ops.registry import op
from distml.ops.rules.one_value import require_braces
from distml.values import Const, ListRecord, Many, Num, Prim, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

_SHORT = "capitalize casefold lower removeprefix removesuffix strip lstrip rstrip swapcase title upper"
_TESTS = "endswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace"
_PLACES = "count find index rfind rindex"
_PARTS = "partition rpartition"
_LISTS = "rsplit split splitlines"
_PADDED = "center ljust rjust zfill expandtabs"


def _register(names: str, make: Callable[[str], Callable[..., Value]], *kinds: str) -> None:
    for name in names.split():
        for kind in kinds or ("str", "bytes"):
            if hasattr(str if kind == "str" else bytes, name):
                op(f"builtins.{kind}.{name}")(make(name))


def _exact(call: Call, name: str, self: Value, args: tuple[Value, ...], named: dict[str, Value]) -> Value | None:
    text = self.value if isinstance(self, Const) else None
    method = getattr(text, name, None) if isinstance(text, str | bytes) else None
    return None if method is None else compute(call, method, *args, **named)


def _kind(call: Call) -> str:
    return "bytes" if call.name.startswith("builtins.bytes.") else "str"


def _text_method(name: str) -> Callable[..., Value]:
    def method(call: Call, self: Value, *args: Value, **named: Value) -> Value:
        return _exact(call, name, self, args, named) or Prim(_kind(call))

    return _documented(method, name)


def _test_method(name: str) -> Callable[..., Value]:
    def method(call: Call, self: Value, *args: Value) -> Value:
        return _exact(call, name, self, args, {}) or Prim("bool")

    return _documented(method, name)


def _place_method(name: str) -> Callable[..., Value]:
    def method(call: Call, self: Value, *args: Value) -> Value:
        return _exact(call, name, self, args, {}) or Num(call.symbol(name, -1 if name.endswith("find") else 0))

    return _documented(method, name)


def _parts_method(name: str) -> Callable[..., Value]:
    def method(call: Call, self: Value, sep: Value, /) -> Value:
        return _exact(call, name, self, (sep,), {}) or Tup((Prim(_kind(call)),) * 3)

    return _documented(method, name)


def _list_method(name: str) -> Callable[..., Value]:
    def method(call: Call, self: Value, *args: Value, **named: Value) -> Value:
        found = _exact(call, name, self, args, named)
        return found or call.world.allocate(ListRecord(None, Prim(_kind(call))))

    return _documented(method, name)


def _padded_method(name: str) -> Callable[..., Value]:
    def method(call: Call, self: Value, width: Value = Const(8), *fill: Value) -> Value:
        wanted = python(width)
        small = isinstance(wanted, int) and wanted <= 10_000
        return (_exact(call, name, self, (width, *fill), {}) if small else None) or Prim(_kind(call))

    return _documented(method, name)


def _documented(method: Callable[..., Value], name: str) -> Callable[..., Value]:
    method.__name__ = name
    method.__doc__ = f"str.{name}: https://docs.python.org/3/library/stdtypes.html#str.{name}"
    return method


_register(_SHORT, _text_method)
_register(f"{_TESTS} istitle isupper startswith", _test_method)
_register(_PLACES, _place_method)
_register(_PARTS, _parts_method)
_register(_LISTS, _list_method)
_register(_PADDED, _padded_method)


@op("builtins.str.replace", "builtins.bytes.replace")
def replace(call: Call, self: Value, old: Value, new: Value, count: Value = Const(-1)) -> Value:
    """str.replace(old, new): https://docs.python.org/3/library/stdtypes.html#str.replace"""
    texts = [python(value) for value in (self, old, new)]
    if all(isinstance(text, str | bytes) for text in texts) and (len(texts[0]) + 1) * (len(texts[2]) + 1) <= MAX_TEXT:
        return _exact(call, "replace", self, (old, new, count), {}) or Prim(_kind(call))
    return Prim(_kind(call))


@op("builtins.str.join", "builtins.bytes.join")
def join(call: Call, self: Value, iterable: Value, /) -> Value:
    """str.join(iterable): https://docs.python.org/3/library/stdtypes.html#str.join"""
    parts = drawn(call, iterable)
    if isinstance(parts, Many) or not isinstance(self, Const):
        return Prim(_kind(call))
    texts = [python(part) for part in parts]
    small = all(isinstance(text, str | bytes) for text in texts)
    if small and sum(len(text) + len(self.value) for text in texts) <= MAX_TEXT:
        return _exact(call, "join", self, (Tup(parts),), {}) or Prim(_kind(call))
    return Prim(_kind(call))


@op("builtins.str.format")
def format(call: Call, self: Value, /, *args: Value, **named: Value) -> Value:
    """str.format(*args, **named): https://docs.python.org/3/library/stdtypes.html#str.format"""
    text = call.const(self, str)
    if isinstance(text, str):
        require_braces(call, text, args, named)
    plain = all(isinstance(value, Const) for value in (*args, *named.values()))
    # Fields inside fields take a width from the arguments; attributes would look into objects of ours.
    simple = isinstance(text, str) and format_is_small(text) and ":{" not in text and "." not in text.replace(":.", ":")
    return (_exact(call, "format", self, args, named) if plain and simple else None) or Prim("str")


@op("builtins.str.format_map")
def format_map(call: Call, self: Value, mapping: Value, /) -> Value:
    """str.format_map(mapping): https://docs.python.org/3/library/stdtypes.html#str.format_map"""
    return Prim("str")


@op("builtins.str.encode")
def encode(call: Call, self: Value, encoding: Value = Const("utf-8"), errors: Value = Const("strict")) -> Value:
    """str.encode(encoding): https://docs.python.org/3/library/stdtypes.html#str.encode"""
    known = _exact(call, "encode", self, (), {}) if encoding == Const("utf-8") and _is_text(self) else None
    return known or Prim("bytes")


def _is_text(self: Value) -> bool:
    return isinstance(self, Const) and isinstance(self.value, str) and self.value.isascii()


@op("builtins.bytes.decode", "builtins.bytes.hex")
def decode(call: Call, self: Value, *args: Value, **named: Value) -> Value:
    """bytes.decode(encoding): https://docs.python.org/3/library/stdtypes.html#bytes.decode"""
    return Prim("str")


@op("builtins.str.maketrans")
def maketrans(call: Call, *args: Value) -> Value:
    """str.maketrans(x, y): https://docs.python.org/3/library/stdtypes.html#str.maketrans"""
    return call.unknown()


@op("builtins.str.translate", "builtins.bytes.translate")
def translate(call: Call, self: Value, table: Value, /) -> Value:
    """str.translate(table): https://docs.python.org/3/library/stdtypes.html#str.translate"""
    return Prim(_kind(call))


def joined_text(call: Call, parts: list[Value]) -> Value:
    """An f-string: the concatenation of its parts, exact while all are known strings."""
    texts: list[Any] = [python(part) for part in parts]
    if all(isinstance(text, str) for text in texts) and sum(map(len, texts)) <= MAX_TEXT:
        return lift(call, "".join(texts)) or Prim("str")
    return Prim("str")
