"""numpy: structured arrays, whose elements are records with fields (https://numpy.org/doc/stable/user/basics.rec.html).

The kind of such elements is a text that says what fields they have, so that whatever keeps the kind of an array keeps its fields.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from distml.ops.call import UNKNOWN, Call
from distml.shapes import Dim, Shape
from distml.values import ListRecord, Ref, Tup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from distml.values import Value

_MARK = "record "


class Field(NamedTuple):
    """What a field holds: an element of a kind (None where that is not known), or an array of them."""

    kind: str | None
    sizes: tuple[int, ...]


def record_kind(call: Call, dtype: Value, kind_of: Callable[[Value], str | None]) -> str | None:
    """The kind that a list of fields stands for, `[("pos", float, 3)]`; None where not all of it is written out."""
    record = call.world.record(dtype) if isinstance(dtype, Ref) else None
    items = call.items(dtype) if isinstance(record, ListRecord) else None
    if not items:
        return None
    fields: dict[str, Field] = {}
    for item in items:
        parts = item.items if isinstance(item, Tup) else ()
        name = call.const(parts[0], str) if len(parts) in (2, 3) else UNKNOWN
        sizes = _sizes(call, parts[2]) if len(parts) == 3 else ()
        if name is UNKNOWN or sizes is None:
            return None
        fields[name] = Field(kind_of(parts[1]), sizes)
    return _kind(fields)


def _kind(fields: Mapping[str, Field]) -> str:
    return _MARK + repr([(name, *field) for name, field in fields.items()])


def _sizes(call: Call, shape: Value) -> tuple[int, ...] | None:
    given = shape.items if isinstance(shape, Tup) else (shape,)
    sizes = [call.const(each, int) for each in given]
    return None if UNKNOWN in sizes else tuple(sizes)


def is_record(kind: str | None) -> bool:
    """Whether elements of this kind are records."""
    return kind is not None and kind.startswith(_MARK)


def fields_of(kind: str | None) -> dict[str, Field]:
    """The fields of elements of this kind; none where they are no records or nothing is known of them."""
    if kind is None or not is_record(kind):
        return {}
    return {name: Field(its, sizes) for name, its, sizes in ast.literal_eval(kind.removeprefix(_MARK))}


def of_field(call: Call, shape: Shape, field: Field) -> Shape:
    """The shape of one field of all elements."""
    if shape.dims is None:
        return call.facts.unknown_shape() if field.sizes else shape
    return Shape((*shape.dims, *map(Dim.of, field.sizes)))


def subset(call: Call, kind: str | None, names: Value) -> str | None:
    """The kind of records with some of the fields, `a[["x", "y"]]`; None where they are not written out."""
    record = call.world.record(names) if isinstance(names, Ref) else None
    items = call.items(names) if isinstance(record, ListRecord) else None
    fields = fields_of(kind)
    chosen = [call.const(each, str) for each in items or ()]
    if not chosen or any(each not in fields for each in chosen):
        return None
    return _kind({name: fields[name] for name in chosen})
