"""Statements that take the place of others in a block, with the comments and blank lines around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

_PRAGMA = re.compile(r"#\s*(noqa|type:|pragma:|pylint:|pyright:|mypy:|fmt:|ruff:|distml:)")


class Piece(NamedTuple):
    """What stands for one statement: statements, and lines that go to whatever follows them."""

    statements: Sequence[cst.BaseStatement]
    rest: Sequence[cst.EmptyLine] = ()


def join(pieces: Sequence[Piece]) -> tuple[list[cst.BaseStatement], list[cst.EmptyLine]]:
    """The statements of a block, and the lines left at its end."""
    body: list[cst.BaseStatement] = []
    pending: list[cst.EmptyLine] = []
    for statements, rest in pieces:
        if statements:
            body += _led_by(pending, statements)
            pending = []
        pending += rest
    return body, pending


def unwrap(lines: Sequence[cst.EmptyLine], arm: cst.Else | None) -> Piece:
    """The statements of an arm in the place of its branch, which `lines` stood in front of."""
    if arm is None:
        return Piece([], commented(lines))
    block = arm.body
    comment = block.header.comment if isinstance(block, cst.IndentedBlock) else None
    own = arm.leading_lines
    if comment and not _PRAGMA.match(comment.value):
        own = [*own, cst.EmptyLine(comment=comment)]
    leading = layer(lines, own)
    if isinstance(block, cst.SimpleStatementSuite):
        line = cst.SimpleStatementLine(block.body, leading_lines=leading, trailing_whitespace=block.trailing_whitespace)
        return Piece([], commented(leading)) if _is_pass(line) else Piece([line])
    assert isinstance(block, cst.IndentedBlock)
    if len(block.body) == 1 and _is_pass(block.body[0]):
        inner = getattr(block.body[0], "leading_lines", ())
        return Piece([], [*commented(layer(leading, inner)), *commented(block.footer)])
    return Piece(_led_by(leading, block.body), commented(block.footer))


def without(line: cst.SimpleStatementLine, dead: Sequence[bool]) -> Piece:
    """A line without some of its statements."""
    kept = [small for small, gone in zip(line.body, dead, strict=True) if not gone]
    if len(kept) == len(line.body):
        return Piece([line])
    if not kept:
        return Piece([], commented(line.leading_lines))
    return Piece([line.with_changes(body=_ended(kept, line.body[-1]))])


def without_from_suite(suite: cst.SimpleStatementSuite, dead: Sequence[bool]) -> cst.SimpleStatementSuite:
    """The statements behind a colon without some of them."""
    kept = [small for small, gone in zip(suite.body, dead, strict=True) if not gone]
    return suite.with_changes(body=_ended(kept, suite.body[-1]) if kept else [cst.Pass()])


def commented(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Lines up to the last comment; nothing where all are blank."""
    last = max((number for number, line in enumerate(lines, 1) if line.comment), default=0)
    return list(lines[:last])


def layer(outer: Sequence[cst.EmptyLine], inner: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Lines in front of a statement that moves to where `outer` stood: its own, without blank ones they begin with."""
    start = next((number for number, line in enumerate(inner) if line.comment), len(inner))
    return [*outer, *inner[start:]]


def _led_by(lines: Sequence[cst.EmptyLine], statements: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    first, *others = statements
    if not lines:
        return list(statements)
    return [first.with_changes(leading_lines=[*lines, *getattr(first, "leading_lines", ())]), *others]


def _ended(kept: list[cst.BaseSmallStatement], last: cst.BaseSmallStatement) -> list[cst.BaseSmallStatement]:
    """Statements of a line that ends like the one with `last`."""
    return [*kept[:-1], kept[-1].with_changes(semicolon=getattr(last, "semicolon", cst.MaybeSentinel.DEFAULT))]


def _is_pass(statement: cst.CSTNode) -> bool:
    """Whether a line is `pass` and nothing more, not even a comment."""
    if not isinstance(statement, cst.SimpleStatementLine) or statement.trailing_whitespace.comment:
        return False
    return len(statement.body) == 1 and isinstance(statement.body[0], cst.Pass)
