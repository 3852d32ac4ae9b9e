"""Constants of the standard library: `math.pi`, `sys.maxsize`, `typing.TYPE_CHECKING`."""

from __future__ import annotations

import math
import string
from typing import TYPE_CHECKING, Any

from distml.ops.registry import attribute
from distml.values import Const, Num, Prim, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

_KNOWN: dict[str, Any] = {
    **{f"math.{name}": getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")},
    **{f"string.{name}": getattr(string, name) for name in ("ascii_lowercase", "ascii_uppercase", "ascii_letters")},
    **{f"string.{name}": getattr(string, name) for name in ("digits", "hexdigits", "octdigits", "punctuation")},
    "string.whitespace": string.whitespace,
    "typing.TYPE_CHECKING": False,
    "typing_extensions.TYPE_CHECKING": False,
}

# They depend on the machine that runs the program.
_OS = "sep linesep name pathsep curdir pardir devnull extsep"
_SYS = "platform executable version byteorder prefix"
_STRINGS = (*(f"os.{name}" for name in _OS.split()), *(f"sys.{name}" for name in _SYS.split()))


def _constant(name: str, value: Any) -> None:
    def rule(call: Call) -> Value:
        return Const(value)

    _register(name, rule)


def _register(name: str, rule: Callable[..., Value]) -> None:
    rule.__doc__ = f"{name}: https://docs.python.org/3/library/{name.partition('.')[0]}.html"
    attribute(name)(rule)


for _name, _value in _KNOWN.items():
    _constant(_name, _value)


@attribute(*_STRINGS)
def text(call: Call) -> Value:
    """A string of this machine's: https://docs.python.org/3/library/os.html"""
    return Prim("str")


@attribute("sys.maxsize")
def maxsize(call: Call) -> Value:
    """sys.maxsize: https://docs.python.org/3/library/sys.html#sys.maxsize"""
    return Num(call.symbol("maxsize", 2**31 - 1))
