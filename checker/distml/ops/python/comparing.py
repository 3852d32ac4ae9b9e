"""Python's comparisons: true, false, or not known."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from distml.ops.dialect import dialect
from distml.ops.python.folding import FAILURES, MISSING, python
from distml.ops.python.keys import find_key, is_told
from distml.ops.python.likeness import is_number, kind_of
from distml.ops.python.ratios import quotient_of
from distml.ops.registry import find_layer, find_op
from distml.shapes import Dim, Shape
from distml.values import (
    NO_TUPLES,
    NONE,
    Bound,
    Claimed,
    Class,
    Const,
    DictRecord,
    Expr,
    Function,
    InstanceRecord,
    IteratorRecord,
    Lib,
    LibMethod,
    ListRecord,
    Many,
    Module,
    Num,
    Opaque,
    Partial,
    Prim,
    Range,
    Ref,
    SetRecord,
    ShapeSeq,
    Slice,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from distml.ops.call import Call

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_NEGATED = {"!=": "==", "is not": "is", "not in": "in", ">=": "<", "<=": ">"}

MAX_DEPTH = 16
"""How deep nested sequences are compared."""


def compare(call: Call, op: str, left: Value, right: Value) -> bool | None:
    """`left op right` for `== != < <= > >= is in` and their negations; None when it is not certain."""
    return _compare(call, op, left, right, 0)


def _compare(call: Call, op: str, left: Value, right: Value, depth: int) -> bool | None:
    if isinstance(left, Union) or (isinstance(right, Union) and op not in ("in", "not in")):
        return _each(call, op, left, right, depth)
    if op in ("!=", "is not", "not in"):
        return _not(_compare(call, _NEGATED[op], left, right, depth))
    if op == "is":
        return _identical(left, right)
    if op == "in":
        return contains(call, right, left)
    if isinstance(left, Const) and isinstance(right, Const):
        return _constants(op, left.value, right.value)
    if is_number(left) and is_number(right):
        return _numbers(call, op, left, right)
    if op == "==":
        return _equal(call, left, right, depth)
    return _ordered(call, op, left, right, depth)


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


NO_DEFAULT = Lib("inspect.Parameter.empty")
"""Stands for a default or an annotation that a parameter has not; nothing else does."""
NO_FIELD_DEFAULT = Lib("dataclasses.MISSING")
"""Stands for a default that a field has not."""
KINDS = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD")
"""How a parameter of a function may be given."""
_ONLY = frozenset({NO_DEFAULT, NO_FIELD_DEFAULT, *(Lib(f"inspect.Parameter.{kind}") for kind in KINDS)})
"""Objects of libraries that are equal to nothing but themselves."""


def _agreed(answers: Iterable[bool | None]) -> bool | None:
    """The one answer all give."""
    found = set(answers)
    return found.pop() if len(found) == 1 else None


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Whether all are true: False as soon as one is, None when one is unknown."""
    result: bool | None = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            result = None
    return result


def _each(call: Call, op: str, left: Value, right: Value, depth: int) -> bool | None:
    lefts = left.options if isinstance(left, Union) else (left,)
    rights = right.options if isinstance(right, Union) and op not in ("in", "not in") else (right,)
    if depth > MAX_DEPTH:
        return None
    return _agreed(_compare(call, op, a, b, depth + 1) for a in lefts for b in rights)


def _identical(left: Value, right: Value) -> bool | None:
    """`left is right`; certain for None, True, False, classes and objects. What a library defines is nothing of the program's."""
    if any(isinstance(side, Opaque | Expr | Claimed) or _is_guess(side) for side in (left, right)):
        return True if left is right else None
    singletons = [side for side in (left, right) if _is_singleton(side)]
    if singletons:
        if len(singletons) == 2:
            return left == right
        other = right if singletons[0] is left else left
        kind = type(singletons[0].value).__name__ if isinstance(singletons[0], Const) else None
        may_be = _may_be_anything(other) or (kind == "bool" and kind_of(other) == "bool")
        return None if may_be else False
    if isinstance(left, Ref | Class) and isinstance(right, Ref | Class):
        return left == right
    if isinstance(left, Lib) and isinstance(right, Lib):
        both = all(side.name.startswith("builtins.") for side in (left, right))  # which has no two names for one object
        return True if left.name == right.name else False if both else None
    sides = (left, right) if isinstance(left, Lib) else (right, left)
    if isinstance(sides[0], Lib) and not _may_be_anything(sides[0]):
        return False if isinstance(sides[1], Class | Const | Function | Ref | Tensor | Tup) else None
    return False if _family(left) != _family(right) and None not in (_family(left), _family(right)) else None


def _may_be_anything(value: Value) -> bool:
    """Whether a value is a name of a library of which nothing is known; one with rules is a function or class."""
    return isinstance(value, Lib) and find_layer(value.name) is None and find_op(value.name) is None


def _is_guess(value: Value) -> bool:
    """Whether a method is only guessed at: `block.norm` may be any attribute of what is not known."""
    return isinstance(value, LibMethod) and value.name.startswith("?.")


def _is_singleton(value: Value) -> bool:
    if isinstance(value, Lib) and value in _ONLY:
        return True
    return isinstance(value, Const) and (value.value is None or value.value is ... or isinstance(value.value, bool))


def _constants(op: str, left: Any, right: Any) -> bool | None:
    try:
        return bool(_ORDER[op](left, right))
    except FAILURES:
        return None


def _numbers(call: Call, op: str, left: Value, right: Value) -> bool | None:
    if op in ("<=", ">=") and _is_whole(left) and _is_whole(right):
        return _not(_numbers(call, _NEGATED[op], left, right))
    if op == ">":
        return _numbers(call, "<", right, left)
    if op == ">=":
        return _numbers(call, "<=", right, left)
    bounds = _infinite(op, left, right)
    if bounds is not None:
        return bounds
    a, b = quotient_of(call, left), quotient_of(call, right)
    if a is None or b is None or (a[0].is_dynamic and b[0].is_dynamic):
        return None
    difference = _scaled_difference(a, b)
    if difference is None:
        return None
    return _sign(op, difference)


def _is_whole(value: Value) -> bool:
    return kind_of(value) in ("int", "bool")


def _infinite(op: str, left: Value, right: Value) -> bool | None:
    """Comparisons with infinity and NaN: any integer compares as zero does."""
    if not (_is_infinite(left) or _is_infinite(right)):
        return None
    plain = [side.value if isinstance(side, Const) else 0 for side in (left, right)]
    known = all(isinstance(side, Const) or _is_whole(side) for side in (left, right))
    return _constants(op, *plain) if known else None


def _is_infinite(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, float) and not math.isfinite(value.value)


def _scaled_difference(a: tuple[Dim, Dim], b: tuple[Dim, Dim]) -> Dim | None:
    """`b - a` times something positive."""
    for _, below in (a, b):
        if below.low is None or below.low <= 0:
            return None
    return b[0] * a[1] - a[0] * b[1]


def _sign(op: str, difference: Dim) -> bool | None:
    """What is certain of `a op b` from `b - a`."""
    if op == "==":
        return True if not difference.terms else False if difference.is_nonzero else None
    low, high = difference.low, (-difference).low
    strict = 1 if op == "<" else 0
    if low is not None and low >= strict:
        return True
    return False if high is not None and -high < strict else None


def _ordered(call: Call, op: str, left: Value, right: Value, depth: int) -> bool | None:
    """`<` and its kin on sequences: decided by the first items that are certain to differ."""
    a, b = _sequence(call, left), _sequence(call, right)
    if a is None or b is None or depth > MAX_DEPTH or _family(left) != _family(right):
        return None
    for x, y in zip(a, b, strict=False):
        same = _compare(call, "==", x, y, depth + 1)
        if same is None:
            return None
        if not same:
            return _compare(call, op, x, y, depth + 1)
    return bool(_ORDER[op](len(a), len(b)))


def _sequence(call: Call, value: Value) -> tuple[Value, ...] | None:
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(value, Tup | ShapeSeq) or isinstance(record, ListRecord):
        return call.items(value)
    return None


def _equal(call: Call, left: Value, right: Value, depth: int) -> bool | None:
    if depth > MAX_DEPTH or any(isinstance(side, Claimed) for side in (left, right)):
        return None
    if isinstance(left, Tup | ShapeSeq | Many) and isinstance(right, Tup | ShapeSeq | Many):
        return _equal_tuples(call, left, right, depth)
    if isinstance(left, Ref) and isinstance(right, Ref):
        return _equal_records(call, left, right, depth)
    if isinstance(left, Lib) and isinstance(right, Lib):
        return True if left.name == right.name else False if {left, right} <= _ONLY else None
    if isinstance(left, Class) and isinstance(right, Class) and left.address == right.address:
        return True
    families = _built_in(call, left), _built_in(call, right)
    if None in families or families[0] == families[1]:
        return None
    return False


def _equal_tuples(call: Call, left: Value, right: Value, depth: int) -> bool | None:
    if any(isinstance(side, Tup) and side.kind == "view" for side in (left, right)):
        return None
    a, b = call.items(left), call.items(right)
    if a is not None and b is not None:
        return _equal_items(call, a, b, depth)
    if isinstance(left, ShapeSeq) and isinstance(right, ShapeSeq):
        return True if call.facts.shape(left.shape) == call.facts.shape(right.shape) else None
    for seq, items in ((left, b), (right, a)):
        if isinstance(seq, ShapeSeq) and items is not None:
            return _equal_shape(call, call.facts.shape(seq.shape), items, depth)
    return None


def _equal_items(call: Call, a: Sequence[Value], b: Sequence[Value], depth: int) -> bool | None:
    if len(a) != len(b):
        return False
    return _all(_compare(call, "==", x, y, depth + 1) for x, y in zip(a, b, strict=True))


def _equal_shape(call: Call, shape: Shape, items: Sequence[Value], depth: int) -> bool | None:
    """A shape of unknown rank against known sizes: it can only be shown to differ."""
    if len(items) < shape.least:
        return False
    pairs = list(zip(shape.head, items, strict=False))
    pairs += list(zip(reversed(shape.tail), reversed(items), strict=False))
    answers = [_compare(call, "==", call.number(dim), item, depth + 1) for dim, item in pairs]
    return False if False in answers else None


def _equal_records(call: Call, left: Ref, right: Ref, depth: int) -> bool | None:
    a, b = call.world.record(left), call.world.record(right)
    if isinstance(a, ListRecord) and isinstance(b, ListRecord):
        if call.world.get(("class", left)) != call.world.get(("class", right)):
            return None
        if a.items is not None and b.items is not None:
            return _equal_items(call, a.items, b.items, depth)
        return None
    if isinstance(a, DictRecord) and isinstance(b, DictRecord):
        if not a.exact or not b.exact:
            return None
        if a.items.keys() != b.items.keys():
            return False
        return _all(_compare(call, "==", a.items[key], b.items[key], depth + 1) for key in a.items)
    if isinstance(a, SetRecord) and isinstance(b, SetRecord):
        sides = [python(Tup(record.items)) if record.items is not None else MISSING for record in (a, b)]
        return None if any(side is MISSING for side in sides) else set(sides[0]) == set(sides[1])
    if isinstance(a, InstanceRecord | IteratorRecord) or isinstance(b, InstanceRecord | IteratorRecord):
        return None
    return False if type(a) is not type(b) and a is not None and b is not None else None


def _family(value: Value) -> str | None:
    """A word for the type of a value, None when it may be of several; numbers are one family.

    `x.size` of an unknown `x` is a `LibMethod`, and may as well be a number.
    """
    if value == NONE:
        return "None"
    if is_number(value):
        return "number"
    if isinstance(value, Const | Prim):
        return kind_of(value) or "other constant"
    if isinstance(value, ShapeSeq):
        return "tuple" if dialect(value.lib).shape_is_tuple else None
    if isinstance(value, Tup):
        return None if value.kind in NO_TUPLES else "tuple"
    if isinstance(value, Many):
        return None
    if isinstance(value, Ref | Tensor):
        return "object"
    if isinstance(value, Function | Bound | Class | Module | Range | Slice | Partial):
        return type(value).__name__
    return None


def _built_in(call: Call, value: Value) -> str | None:
    """The family of a value that compares as Python's own types do; None where a class of its own may decide."""
    if isinstance(value, Ref):
        record = call.world.record(value)
        names = {ListRecord: "list", DictRecord: "dict", SetRecord: "set"}
        return names.get(type(record))
    if isinstance(value, Tensor):
        return None
    return _family(value)


def contains(call: Call, container: Value, item: Value) -> bool | None:
    """`item in container`."""
    if isinstance(container, Union):
        return _agreed(contains(call, option, item) for option in container.options)
    if isinstance(container, Const) and isinstance(item, Const):
        try:
            return bool(item.value in container.value)
        except FAILURES:
            return None
    if isinstance(container, Range):
        return _in_range(call, container, item)
    record = call.world.record(container) if isinstance(container, Ref) else None
    if isinstance(record, DictRecord):
        return _in_dict(call, record, item)
    if isinstance(container, Tup | ShapeSeq) or isinstance(record, ListRecord | SetRecord):
        items = call.items(container)
        return None if items is None else _in_items(call, items, item)
    if isinstance(record, IteratorRecord) and isinstance(container, Ref):
        # It is drawn from until the item comes.
        call.world.replace(container, IteratorRecord(None))
    return None


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) is str


def _in_items(call: Call, items: Sequence[Value], item: Value) -> bool | None:
    result: bool | None = False
    for other in items:
        if _is_text(item) and _is_text(other):
            answer: bool | None = item == other
        else:
            answer = True if _identical(item, other) else _compare(call, "==", item, other, 1)
        if answer:
            return True
        if answer is None:
            result = None
    return result


def _in_dict(call: Call, record: DictRecord, item: Value) -> bool | None:
    if is_told(call.world, record, item):
        if find_key(call.world, record, item) is not None:
            return True
        return False if record.exact else None
    return False if record.exact and not record.items else None


def _in_range(call: Call, container: Range, item: Value) -> bool | None:
    bounds = [python(part) for part in (container.start, container.stop, container.step)]
    if isinstance(item, Const):
        if all(isinstance(bound, int) for bound in bounds) and bounds[2]:
            return item.value in range(*bounds)
        return None if kind_of(item) in ("int", "bool", "float") else False
    if isinstance(item, Num):
        above = _compare(call, ">=", item, container.start, 1)
        below = _compare(call, "<", item, container.stop, 1)
        inside = _all((above, below))
        return inside if bounds[2] == 1 else None
    return None
