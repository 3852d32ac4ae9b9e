"""Choreographies as read: definitions, their roles, and where a value is.

Values only. Places are sets of role names; a place of several roles means that they hold the same value.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from distml.choreo.surroundings import Surroundings, defines


class Kind(Enum):
    """What a located thing is: plain data, a channel, or a choreography object with a part at each role."""

    DATA = "data"
    CHANNEL = "channel"
    OBJECT = "object"


class Located(NamedTuple):
    """A type with its place.

    `roles` is `None` for what is everywhere, such as a literal. For a channel they are its ends, for an object the
    roles that stand for those of its class, in order. `also` are parties that know a communicated value besides the
    receiver. `loose` is what each party that computes it may get another result of: a clock, an order of a set. Without
    roles, its use decides whose it is.
    """

    kind: Kind
    roles: tuple[str, ...] | None
    name: str = ""
    data: ast.expr | None = None
    also: frozenset[str] = frozenset()
    loose: bool = False

    @property
    def place(self) -> frozenset[str] | None:
        """The roles as a set."""
        return None if self.roles is None else frozenset(self.roles)

    @property
    def known(self) -> frozenset[str] | None:
        """Where the value may be had, the sender included."""
        return None if self.roles is None else frozenset(self.roles) | self.also

    def renamed(self, names: Mapping[str, str]) -> Located:
        """With the roles that stand for formal ones."""
        if self.roles is None:
            return self
        return self._replace(roles=tuple(names.get(role, role) for role in self.roles))


EVERYWHERE = Located(Kind.DATA, None)


class Parameter(NamedTuple):
    """A parameter of a choreography; `node` is its place in the source."""

    name: str
    type: Located
    node: ast.arg
    default: ast.expr | None


@dataclass(eq=False)
class Function:
    """A choreography function or method; `roles` are its formal roles in order."""

    node: ast.FunctionDef
    roles: tuple[str, ...]
    parameters: list[Parameter]
    returns: Located | None
    owner: Definition | None = None

    @property
    def is_abstract(self) -> bool:
        """Whether it only declares: a body of `...`, or nothing but a docstring."""
        return all(
            isinstance(each, ast.Pass) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            for each in self.node.body
        )


@dataclass(eq=False)
class Definition:
    """A choreography class: its roles, fields, methods, and the choreographies it extends with the roles it gives them."""

    name: str
    node: ast.ClassDef
    roles: tuple[str, ...]
    bases: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    fields: dict[str, Located] = field(default_factory=dict)
    methods: dict[str, Function] = field(default_factory=dict)


@dataclass(eq=False)
class Module:
    """A file of choreographies. `local` are the statements of its top level that know no roles.

    `roles` are the roles that the file defines, or names in annotations and imports from elsewhere. `outside` says what
    names are that lead to choreographies of other files, `words` which names stand for words of the language, `constants`
    which of them other files define once and for all.
    """

    tree: ast.Module
    roles: set[str] = field(default_factory=set)
    classes: dict[str, Definition] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    local: list[ast.stmt] = field(default_factory=list)
    outside: dict[str, str] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)

    @cached_property
    def around(self) -> Surroundings:
        """The local code, once the file is read."""
        return Surroundings(self.tree, self.local, frozenset(self.constants))

    def at_run_time(self, hint: ast.expr) -> bool:
        """Whether a type can be evaluated when a program runs: its names are there then, and nothing in it is quoted."""
        there = {name for node in self.local for name in defines(node)} | vars(builtins).keys()
        return not any(
            (isinstance(each, ast.Constant) and isinstance(each.value, str))
            or (isinstance(each, ast.Name) and each.id not in there)
            for each in ast.walk(hint)
        )

    def field_of(self, of: Located, name: str) -> Located | None:
        """The field `name` of an object, with the object's roles."""
        definition = self.classes[of.name]
        names = dict(zip(definition.roles, of.roles or ()))
        if name in definition.fields:
            return definition.fields[name].renamed(names)
        for base in self.parents(of):
            found = self.field_of(base, name)
            if found is not None:
                return found
        return None

    def method_of(self, of: Located, name: str) -> tuple[Function, dict[str, str]] | None:
        """The method `name` of an object, and which roles stand for its formal ones."""
        definition = self.classes[of.name]
        if name in definition.methods:
            return definition.methods[name], dict(zip(definition.roles, of.roles or ()))
        for base in self.parents(of):
            found = self.method_of(base, name)
            if found is not None:
                return found
        return None

    def parents(self, of: Located) -> list[Located]:
        """The object as what its class extends."""
        definition = self.classes[of.name]
        names = dict(zip(definition.roles, of.roles or ()))
        return [
            Located(Kind.OBJECT, tuple(names.get(role, role) for role in roles), base)
            for base, roles in definition.bases
            if base in self.classes
        ]

    def is_a(self, value: Located, wanted: Located) -> bool:
        """Whether an object can stand where `wanted` is asked for: its class or an heir, with the same roles."""
        return (value.name, value.roles) == (wanted.name, wanted.roles) or any(
            self.is_a(parent, wanted) for parent in self.parents(value)
        )
