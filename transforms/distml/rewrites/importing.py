"""Putting imports into a file: merged into those it has, or a line of their own behind the last one."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from distml.rewrites.imports import Imports

Statements = list[cst.SimpleStatementLine | cst.BaseCompoundStatement]


def add_imports(module: cst.Module, lines: Sequence[int], imports: Imports) -> cst.Module:
    """`module` with what `imports` was asked for; `lines` are those its statements begin on."""
    body: Statements = list(module.body)
    new = [f"import {name}" for name in sorted(imports.wanted_modules)]
    for name, wanted in sorted(imports.wanted.items()):
        statement = imports.merged(name)
        number = _number(lines, statement.lineno) if statement else None
        merged = None if number is None else _merged(body[number], name, wanted)
        if number is None or merged is None:
            new.append(f"from {name} import {', '.join(sorted(wanted))}")
        else:
            body[number] = merged
    if new:
        anchor = imports.anchor()
        _insert(body, _number(lines, anchor.lineno) if anchor else None, new)
    return module.with_changes(body=body)


def _number(lines: Sequence[int], line: int) -> int | None:
    return next((number for number, start in enumerate(lines) if start == line), None)


def _insert(body: Statements, behind: int | None, new: Sequence[str]) -> None:
    """Put lines behind the statement `behind`, or in front of all; a docstring and `__future__` stand apart."""
    blank = cst.EmptyLine(indent=False)
    made = [cst.SimpleStatementLine([_small(text)]) for text in new]
    at = 0 if behind is None else behind + 1
    if behind is not None and not _is_import(body[behind]):
        made[0] = made[0].with_changes(leading_lines=[blank])
    if behind is None or not _is_import(body[behind]):
        if at < len(body) and not any(line.comment is None for line in body[at].leading_lines[:1]):
            body[at] = body[at].with_changes(leading_lines=[blank, blank, *body[at].leading_lines])
    body[at:at] = made


def _small(text: str) -> cst.BaseSmallStatement:
    line = cst.parse_statement(text)
    assert isinstance(line, cst.SimpleStatementLine)
    return line.body[0]


def _is_import(statement: cst.CSTNode) -> bool:
    """Whether a line holds an import other than that of `__future__`."""
    smalls = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    return any(
        isinstance(small, cst.Import | cst.ImportFrom)
        and not (isinstance(small, cst.ImportFrom) and getattr(small.module, "value", "") == "__future__")
        for small in smalls
    )


def _merged(line: cst.CSTNode, module: str, wanted: set[str]) -> cst.SimpleStatementLine | None:
    """A line whose import from `module` takes more names; None where there is none that can."""
    if not isinstance(line, cst.SimpleStatementLine):
        return None
    for number, small in enumerate(line.body):
        if isinstance(small, cst.ImportFrom) and not isinstance(small.names, cst.ImportStar):
            if small.module is not None and cst.Module([]).code_for_node(small.module).strip() == module:
                for name in sorted(wanted):
                    small = _with_name(small, name)
                return line.with_changes(body=[*line.body[:number], small, *line.body[number + 1 :]])
    return None


def _with_name(statement: cst.ImportFrom, name: str) -> cst.ImportFrom:
    """One more name, in order where the others are."""
    assert not isinstance(statement.names, cst.ImportStar)
    names = list(statement.names)
    at = _position([each.evaluated_name for each in names], name)
    space = _space(statement, names)
    if at < len(names):
        names.insert(at, cst.ImportAlias(cst.Name(name), comma=cst.Comma(whitespace_after=space)))
        return statement.with_changes(names=names)
    last, between, end = names[-1], space, names[-1].comma
    if isinstance(end, cst.Comma) and isinstance(end.whitespace_after, cst.ParenthesizedWhitespace):
        # The comment behind the last name stays with it.
        if isinstance(space, cst.ParenthesizedWhitespace):
            between = end.whitespace_after.with_changes(last_line=space.last_line, indent=space.indent)
        end = end.with_changes(whitespace_after=_uncommented(end.whitespace_after))
    names[-1:] = [
        last.with_changes(comma=cst.Comma(whitespace_after=between)),
        cst.ImportAlias(cst.Name(name), comma=end),
    ]
    return statement.with_changes(names=names)


def _position(names: list[str], name: str) -> int:
    for key in (str, str.lower):
        if names == sorted(names, key=key):
            return next((n for n, other in enumerate(names) if key(other) > key(name)), len(names))
    return len(names)


def _space(statement: cst.ImportFrom, names: Sequence[cst.ImportAlias]) -> cst.BaseParenthesizableWhitespace:
    """What stands between two names behind the comma: the line break of the others, without their comments."""
    first = names[0].comma
    if len(names) > 1 and isinstance(first, cst.Comma):
        return _uncommented(first.whitespace_after)
    if statement.lpar is not None and isinstance(statement.lpar.whitespace_after, cst.ParenthesizedWhitespace):
        return _uncommented(statement.lpar.whitespace_after)
    return cst.SimpleWhitespace(" ")


def _uncommented(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    return space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
