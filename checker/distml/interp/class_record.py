"""What is known of a class of the project, and the values that its attributes may be."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from distml.values import Record, Value

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True, eq=False)
class ClassRecord(Record):
    """A class of the project. `mro` begins with the class itself; `None` stands for an unknown base."""

    name: str
    node: ast.ClassDef
    module: str
    mro: tuple[Value | None, ...] = ()
    bases: tuple[Value, ...] = ()
    """What it derives from, in the order that it is written in."""
    attrs: dict[str, Value] = field(default_factory=dict)
    fields: tuple[tuple[str, Value | None], ...] | None = None
    kind: str = "class"
    members: tuple[Value, ...] = ()
    composites: dict[int, Value] = field(default_factory=dict)
    """Of a flag: the member for each number that its members make together."""
    metaclass: Value | None = None
    registers: bool = False
    """Whether classes that do not derive from it may count as derived: its `register` was asked for."""
    sometimes: tuple[str, ...] = ()
    """The attributes that were set on some of the paths that lead here."""

    def having(self, changes: Mapping[str, Value]) -> ClassRecord:
        """The class once these attributes are set."""
        left = tuple(name for name in self.sometimes if name not in changes)
        return replace(self, attrs={**self.attrs, **changes}, sometimes=left)

    @property
    def open(self) -> bool:
        """Whether a base is unknown, so that there may be more than is seen."""
        return any(base is None for base in self.mro)


@dataclass(slots=True, unsafe_hash=True)
class Property(Value):
    """A property: its getter, setter and deleter. What one that is `kept` gives becomes an attribute of the object."""

    getter: Value
    setter: Value | None = None
    deleter: Value | None = None
    kept: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Super(Value):
    """`super()`: looks attributes up behind `owner` in the receiver's resolution order."""

    owner: int
    receiver: Value


@dataclass(slots=True, unsafe_hash=True)
class SuperMethod(Value):
    """`super().__init__` or `super().forward`: what to run is found among the rest of the order."""

    name: str
    rest: tuple[Value | None, ...]
    receiver: Value
