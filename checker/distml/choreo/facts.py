"""What the role checker learned, for projection to read: where each expression is, and what each call does."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from distml.choreo.model import Function, Located


class Transfer(NamedTuple):
    """`com` or `select` of `value` from one party to another."""

    channel: ast.expr
    sender: str
    receiver: str
    value: ast.expr
    is_select: bool


class Invocation(NamedTuple):
    """A call of a choreography: who plays which formal role, and the argument of each parameter.

    `target` is the name a class or function is projected under, empty for a method of an object.
    """

    target: str
    function: Function | None
    roles: Mapping[str, str]
    arguments: tuple[tuple[str, ast.expr, bool], ...]


class Placed(NamedTuple):
    """`value @ Role()`."""

    value: ast.expr


class Mend(NamedTuple):
    """What certainly mends a problem: `node` goes away, or `by`, which is a part of it, takes its place."""

    description: str
    node: ast.AST
    by: ast.expr | None = None


class Problem(NamedTuple):
    """A finding before it has its place in a file."""

    code: str
    node: ast.AST
    message: str
    hint: str | None = None
    related: tuple[tuple[str, ast.AST], ...] = ()
    mend: Mend | None = None


@dataclass(eq=False)
class Facts:
    """Facts by expression, and the problems met."""

    types: dict[ast.expr, Located] = field(default_factory=dict)
    calls: dict[ast.expr, Transfer | Invocation | Placed] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def say(
        self,
        code: str,
        node: ast.AST,
        message: str,
        hint: str | None = None,
        related: tuple[tuple[str, ast.AST], ...] = (),
        mend: Mend | None = None,
    ) -> None:
        """Note a problem, once for each place and code."""
        if not any(each.code == code and each.node is node for each in self.problems):
            self.problems.append(Problem(code, node, message, hint, related, mend))


def names(roles: object) -> str:
    """Roles in words."""
    if roles is None:
        return "everywhere"
    listed = sorted(roles) if isinstance(roles, frozenset | set) else list(roles)  # type: ignore[call-overload]
    return " and ".join(listed) or "no role"
