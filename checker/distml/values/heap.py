"""Records: what a `Ref` points at. Immutable; a change makes a new record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from distml.values.model import REMEMBERED, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from distml.shapes import Dim
    from distml.values.model import Last


class Record:
    """Base of all heap records."""

    __slots__ = ()


@dataclass(slots=True)
class ListRecord(Record):
    """A list (or deque, ModuleList: see `cls`).

    With `items` the list is known element by element; otherwise every element is
    like `item` (None: nothing known of them) and `length` may be known. With
    `same` every element is `item` itself, as in `[width] * n`. A deque of at most
    `bound` elements drops one at the other end for each that is added to a full one.
    """

    items: tuple[Value, ...] | None
    item: Value | None = None
    length: Dim | None = None
    same: bool = False
    bound: int | None = None


@dataclass(slots=True)
class DictRecord(Record):
    """A dict. `items` are the keys that are known; unless `exact`, there may be others,
    each like `rest` (None: nothing known). `factory` is a defaultdict's. `plain` remembers whether each key is the only
    way to write it, None until that was asked."""

    items: dict[Value, Value]
    exact: bool = True
    rest: Value | None = None
    factory: Value | None = None
    plain: bool | None = field(default=None, compare=False, repr=False, metadata={REMEMBERED: True})


@dataclass(slots=True)
class SetRecord(Record):
    """A set; `items` when known element by element."""

    items: tuple[Value, ...] | None
    item: Value | None = None


@dataclass(slots=True)
class InstanceRecord(Record):
    """An object: its class (a `Class` or `Lib`), and its attributes.

    Unless `exact`, there may be attributes that are not listed. Those of `sometimes` were set on some of the paths that lead
    here: who reads one has come from there, who asks for it may find none.
    """

    cls: Value
    attrs: dict[str, Value] = field(default_factory=dict)
    exact: bool = True
    sometimes: tuple[str, ...] = ()

    def having(self, changes: Mapping[str, Value]) -> InstanceRecord:
        """The object once these attributes are set."""
        left = tuple([name for name in self.sometimes if name not in changes]) if self.sometimes else ()
        return InstanceRecord(self.cls, {**self.attrs, **changes}, self.exact, left)


@dataclass(slots=True)
class IteratorRecord(Record):
    """An iterator or generator: the items still to come, or `item` for unknown many.

    `length` is how many are to come when it is known as a dimension; `endless` says
    that there is no end. With `same` every one is `item` itself; `last` is as in `Many`.
    """

    items: tuple[Value, ...] | None
    item: Value | None = None
    length: Dim | None = None
    endless: bool = False
    same: bool = False
    last: Last | None = None
