"""Where Python asks an array for one value (whether it is true, a number, an index, a text in a format), or a number for items.

An array of another number of elements has none: NumPy's "truth value of an array with more than one element is ambiguous",
"only length-1 arrays can be converted to Python scalars", "unsupported format string passed to ndarray.__format__", and what
PyTorch, TensorFlow and JAX say there (`tests/ops/one_value.py` asks them). An array without elements counts as false in some
libraries and versions, and one of one element on axes is a number in some: neither is a mistake here.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

from distml.ops.dialect import ARRAY, dialect
from distml.values import Claimed, Tensor, Tup, Union, alternatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NoReturn

    from distml.ops.call import Call
    from distml.shapes import Dim, Shape
    from distml.values import Value

CODE = "SHP308"
_CONVERSION = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?[#0 +-]*(?P<sizes>\d*(?:\.\d*)?)[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])?"
)
_TEXTS = "rsa"
"""Conversions of `text % values` that take anything."""


def require_truth(call: Call, value: Value) -> None:
    """Fail where `bool(value)` does: of several elements, and in PyTorch of none."""
    arrays = _arrays(value)
    shapes = [call.facts.shape(array.shape) for array in arrays]
    sizes = [shape.size for shape in shapes]
    strict = all(not dialect(array.lib).empty_is_false for array in arrays)
    if shapes and all(size is not None and (_several(size) or (strict and size.differs(1))) for size in sizes):
        hint = "ask for .any() or .all(), or combine conditions with & and |"
        _fail(call, shapes[0], "is neither true nor false", hint)


def require_number(call: Call, value: Value, what: str = "a number") -> None:
    """Fail where `float(value)`, or an index, does: of another number of elements than one."""
    shapes = _shapes(call, value)
    sizes = [shape.size for shape in shapes]
    if shapes and all(size is not None and size.differs(1) for size in sizes):
        _fail(call, shapes[0], f"is not {what}", "reduce it (.mean(), .sum()) or take one element")


def require_scalar(call: Call, value: Value, spec: str) -> None:
    """Fail where `format(value, spec)` does: of an array with axes, whatever its size."""
    shapes = _shapes(call, value)
    if spec and shapes and all(shape.least > 0 for shape in shapes):
        _fail(call, shapes[0], f"has no format '{spec}'", "reduce it (.mean(), .sum()), or show it without a format")


def require_items(call: Call, value: Value, what: str = "items to go through") -> None:
    """Fail where `iter(value)` and `len(value)` do: of an array without axes. One of texts, or of objects, may be a text."""
    arrays = _arrays(value)
    if arrays and all(array.shape.rank == 0 and _is_numeric(array) for array in arrays):
        call.fail("SHP301", f"{call.text}: an array without axes has no {what}", hint="index or reduce one axis less")


def _is_numeric(array: Tensor) -> bool:
    return array.dtype is not None or not dialect(array.lib).anything_is_element


def require_braces(call: Call, text: str, args: Sequence[Value], named: Mapping[str, Value]) -> None:
    """Fail where `text.format(*args, **named)` formats an array with axes."""
    given = dict(named) | {str(index): value for index, value in enumerate(args)}
    counted = 0
    for _, name, spec, conversion in _fields(text):
        if name == "":
            name, counted = str(counted), counted + 1
        if name in given and spec and "{" not in spec and conversion is None:
            require_scalar(call, given[name], spec)


def _fields(text: str) -> Iterable[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(text))
    except ValueError:
        return ()


def require_percent(call: Call, text: str, given: Value) -> None:
    """Fail where `text % given` asks an array for a number (`%d`, `%.3f`)."""
    found = list(_CONVERSION.finditer(text))
    if any(each["name"] is not None or each["kind"] is None for each in found):
        return
    kinds = [each["kind"] for each in found if each["kind"] != "%"]
    values = given.items if isinstance(given, Tup) else (given,)
    if len(kinds) == len(values):
        for kind, value in zip(kinds, values, strict=True):
            if kind not in _TEXTS:
                require_number(call, value, f"the number that %{kind} needs")


def _several(size: Dim) -> bool:
    return size.low is not None and size.low > 1


def _arrays(value: Value) -> list[Tensor]:
    """The arrays that a value may be; none if it may be something else, one of a library that is not known, or one of which
    an annotation alone says the shape.
    """
    if not isinstance(value, Tensor | Union):
        return []
    options = alternatives(value)
    arrays = [each for each in options if isinstance(each, Tensor) and not isinstance(each, Claimed)]
    known = len(arrays) == len(options) and not any(dialect(each.lib) is ARRAY for each in arrays)
    return arrays if known else []


def _shapes(call: Call, value: Value) -> list[Shape]:
    return [call.facts.shape(array.shape) for array in _arrays(value)]


def _fail(call: Call, shape: Shape, what: str, hint: str) -> NoReturn:
    call.fail(CODE, f"{call.text}: an array of shape {shape!r} {what}", *call.notes(*shape.head), hint=hint)
