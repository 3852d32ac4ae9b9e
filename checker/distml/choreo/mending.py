"""Fixes of choreographies: the edits that take out a statement, or put a part of an expression in its place.

Only what leaves the rest of the text as it is: a statement that shares a line, or an expression with comments inside, is
left to people.
"""

from __future__ import annotations

import ast

from distml.choreo.facts import Mend
from distml.diagnostics.model import Edit, Fix, Span
from distml.source.file import SourceFile

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)


def mended(source: SourceFile, mend: Mend) -> Fix | None:
    """The fix that a mend asks for, None where it would disturb something else."""
    if isinstance(mend.node, ast.stmt):
        edit = _without(source, mend.node)
    elif isinstance(mend.node, ast.expr) and mend.by is not None:
        edit = _replaced(source, mend.node, mend.by)
    else:
        edit = None
    return edit and Fix(mend.description, (edit,))


def _without(source: SourceFile, node: ast.stmt) -> Edit | None:
    """The lines of a statement go; `pass` stays for the first of a block in which nothing else is sure to stay."""
    span = source.span(node)
    before = source.lines[span.line - 1][: span.column - 1]
    after = source.lines[span.end_line - 1][span.end_column - 1 :]
    if before.strip() or after.strip():
        return None
    block = _block(source.tree, node)
    if block[0] is node and all(map(_is_select, block)):
        return Edit(span, "pass")
    return Edit(Span(span.path, span.line, 1, span.end_line + 1, 1), "")


def _block(tree: ast.Module, node: ast.stmt) -> list[ast.stmt]:
    """The statements among which `node` stands."""
    fields = (value for each in ast.walk(tree) for _, value in ast.iter_fields(each))
    return next(value for value in fields if isinstance(value, list) and any(each is node for each in value))


def _is_select(node: ast.stmt) -> bool:
    function = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr == "select"


def _replaced(source: SourceFile, node: ast.expr, by: ast.expr) -> Edit | None:
    span, part = source.span(node), source.span(by)
    if span.line != span.end_line or isinstance(by, ast.Starred):
        return None
    text = source.lines[part.line - 1][part.column - 1 : part.end_column - 1]
    return Edit(span, text if isinstance(by, _ATOMS) else f"({text})")
