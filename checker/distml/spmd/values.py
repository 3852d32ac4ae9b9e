"""What an expression is worth on one rank, as far as it decides who communicates."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from distml.source.file import SourceFile

MAX_KEY = 160
Scalar: TypeAlias = int | float | str | bytes | bool | None


class Place(NamedTuple):
    """A node of a file."""

    source: SourceFile
    node: ast.expr | ast.stmt


Told: TypeAlias = tuple[frozenset[tuple[str, Scalar]], frozenset[tuple[str, Scalar]]]
NOTHING_TOLD: Told = (frozenset(), frozenset())


class Local(NamedTuple):
    """Why a value is another one on every rank though nobody asked for the rank."""

    why: str
    place: Place
    data: bool = False
    """Whether it comes from this rank's part of the data."""


@dataclass(slots=True, eq=False)
class Known:
    """A number, a text, a truth value or None; `assumed` where only a name by custom says so, `ranked` where it is the
    number of the rank or computed from it.
    """

    value: Scalar
    assumed: bool = False
    ranked: bool = False


@dataclass(slots=True, eq=False)
class Unknown:
    """A value of which only the way it came about is known: two of the same `key` are taken to be equal.

    `type` is the qualified name of its class where that matters, `trained` says that gradients of it reach a model whose
    gradients are averaged, `shape` what was said of sizes and type where a tensor was made.
    """

    key: str
    local: Local | None = None
    type: str = ""
    trained: bool = False
    shape: tuple[str, ...] | None = None
    uneven: Local | None = None
    """Why another rank may get another number of members."""
    each: Value | None = None
    """What a member is, where that is known."""
    told: Told = NOTHING_TOLD
    """Of a condition: what is equal to what if it is false, and if it is true."""
    either: tuple[bool, Value, Value] | None = None
    """Of a condition that tells ranks apart: it is this if its first part is, else it is what the second is."""
    sides: tuple[Value, ...] = ()
    """What it may be, where two ways met."""

    def __post_init__(self) -> None:
        if len(self.key) > MAX_KEY:
            self.key = f"{self.key[: MAX_KEY // 2]}…{hash(self.key)}"


class Container:
    """What programs change in place: all that changes stands in `state`."""

    __slots__ = ("kind", "state")

    def __init__(self, members: Any, kind: str, exact: bool = True) -> None:
        self.kind = kind
        self.state: dict[str, Any] = {"members": members, "exact": exact}

    @property
    def exact(self) -> bool:
        """Whether the members are all that there are."""
        return bool(self.state["exact"])


class Items(Container):
    """A list, tuple or set."""

    __slots__ = ()

    def __init__(self, members: list[Value], kind: str = "list", exact: bool = True) -> None:
        super().__init__(members, kind, exact)

    @property
    def members(self) -> list[Value]:
        """In order."""
        found: list[Value] = self.state["members"]
        return found


class Table(Container):
    """A dictionary whose keys are known; `makes` is the builtin by which a `defaultdict` makes what it does not hold."""

    __slots__ = ("makes",)

    def __init__(self, members: dict[Scalar, Value], exact: bool = True, makes: str = "") -> None:
        super().__init__(members, "dict", exact)
        self.makes = makes

    @property
    def members(self) -> dict[Scalar, Value]:
        """By key, in order."""
        found: dict[Scalar, Value] = self.state["members"]
        return found


@dataclass(slots=True, eq=False)
class Library:
    """Something outside the project, by its dotted name."""

    name: str


@dataclass(slots=True, eq=False)
class Module:
    """A file of the project."""

    source: SourceFile


@dataclass(slots=True, eq=False)
class Function:
    """A function of the project, with what it closes over and the object it is bound to."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    bound: Value | None = None
    owner: Class | None = None
    first_only: Place | None = None
    """The decorator that lets only the first rank run it."""
    block: bool = False
    """Whether it is a context manager."""


@dataclass(slots=True, eq=False)
class Class:
    """A class of the project; what it is given later is kept under its `key`."""

    node: ast.ClassDef
    scope: Scope
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = f"class {self.scope.source.module}.{self.node.name}:{self.node.lineno}"


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a class of the project."""

    cls: Class
    key: str
    fields: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Group:
    """A group of ranks; `members` is None where they are not known."""

    members: tuple[int, ...] | None


@dataclass(slots=True, eq=False)
class Partial:
    """A function with arguments given beforehand."""

    function: Value
    positional: list[Value]
    named: dict[str, Value]


Value: TypeAlias = Known | Unknown | Items | Table | Library | Module | Function | Class | Instance | Group | Partial


@dataclass(slots=True, eq=False)
class Scope:
    """Names of a function call, or of a file (`parent` is None); a lookup goes outward."""

    source: SourceFile
    names: dict[str, Value] = field(default_factory=dict)
    parent: Scope | None = None
    outward: frozenset[str] = frozenset()
    """Names that are declared `global` or `nonlocal`."""

    @property
    def file(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


def key(value: Value) -> str:
    """What tells a value from others."""
    match value:
        case Known(value=scalar):
            return repr(scalar)
        case Unknown(key=text) | Instance(key=text):
            return text
        case Library(name=text):
            return text
        case Items(members=members, exact=True) if len(members) <= 8:
            return f"[{', '.join(map(key, members))}]"
        case Function(node=ast.FunctionDef(name=name)):
            return name
        case Class(node=node):
            return node.name
        case Module(source=source):
            return source.module
        case Group(members=members):
            return f"group{members}"
        case Function(node=node):
            return f"lambda@{node.lineno}"
        case Partial(function=function):
            return f"partial({key(function)})"
        case Table(members=table):
            return f"dict({', '.join(map(repr, list(table)[:8]))})"
    return type(value).__name__


def parts(value: Value) -> list[Value]:
    """A value and what it holds, as far as that is written down."""
    if isinstance(value, Items):
        return [value, *(each for member in value.members[:16] for each in parts(member))]
    if isinstance(value, Table):
        return [value, *(each for member in list(value.members.values())[:16] for each in parts(member))]
    return [value]


def local_of(*values: Value) -> Local | None:
    """Why one of the values differs between ranks: for its part of the data, where that is among the reasons."""
    found = [one.local for one in _unknown(values) if one.local]
    return next((each for each in found if each.data), found[0] if found else None)


def trained(*values: Value) -> bool:
    """Whether gradients of one of the values reach a model whose gradients are averaged."""
    return any(one.trained for one in _unknown(values))


def _unknown(values: Iterable[Value]) -> list[Unknown]:
    """What is unknown of some values and what they hold."""
    found: list[Unknown] = []
    for value in values:
        if isinstance(value, Unknown):
            found.append(value)
        elif isinstance(value, Container):
            found += [one for one in parts(value) if isinstance(one, Unknown)]
    return found


def derived(text: str, *values: Value) -> Unknown:
    """An unknown value made of others."""
    unknown = _unknown(values)
    return Unknown(text, local_of(*unknown), trained=trained(*unknown))


def element(of: Unknown) -> Value:
    """What one of the members of something is."""
    if of.each is not None:
        return of.each
    found = derived(f"{key(of)}[…]", of)
    found.type = "text of a set" if of.type == "text of a set" else ""
    return found


def truth(value: Value) -> bool | None:
    """Whether a value is true, None where that is open."""
    match value:
        case Known(value=scalar):
            return bool(scalar)
        case Items(members=members, exact=exact):
            return bool(members) if exact else None
        case Table(members=members, exact=exact):
            return bool(members) if exact else None
        case Unknown() | Instance():
            return None
    return True
