"""Merging: what a party does that was not told which branch was taken.

Two behaviors merge where they are equal until they wait for a label; what then differs by label is joined into one
`match`. A party that gives up (`raise`) stops all others, so what they would do there does not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

Body = list[ast.stmt]


class MergeError(Exception):
    """Two behaviors of one party that it cannot tell apart."""

    def __init__(self, left: Body, right: Body, after_label: bool = False) -> None:
        super().__init__("unmergeable")
        self.left, self.right, self.after_label = left, right, after_label


def merge(left: Body, right: Body) -> Body:
    """The behavior that is right whichever branch was taken. Raises `MergeError`."""
    if _same(left, right):
        return left
    if not left or not right:
        if (left and isinstance(left[0], ast.Raise)) or (right and isinstance(right[0], ast.Raise)):
            return right if left else left
        raise MergeError(left, right)
    if isinstance(left[0], ast.Raise):
        return right
    if isinstance(right[0], ast.Raise):
        return left
    head = left[0] if _same(left[0], right[0]) else _merge_heads(left, right)
    return [head, *merge(left[1:], right[1:])]


def _merge_heads(left: Body, right: Body) -> ast.stmt:
    first, second = left[0], right[0]
    if isinstance(first, ast.Match) and isinstance(second, ast.Match) and _same(first.subject, second.subject):
        return _merge_cases(first, second)
    if type(first) is type(second) and isinstance(first, ast.If | ast.While | ast.For | ast.With):
        if _header(first) == _header(second) and not isinstance(first, ast.With):
            return _with_bodies(first, second)
    raise MergeError(left, right)


def _merge_cases(first: ast.Match, second: ast.Match) -> ast.stmt:
    cases = list(first.cases)
    labels = [ast.dump(case.pattern) for case in cases]
    for case in second.cases:
        label = ast.dump(case.pattern)
        if label in labels:
            place = labels.index(label)
            cases[place] = ast.match_case(case.pattern, case.guard, _merge_case(cases[place].body, case.body))
        else:
            cases.append(case)
    return ast.copy_location(ast.Match(first.subject, cases), first)


def _merge_case(left: Body, right: Body) -> Body:
    try:
        return merge(_stripped(left), _stripped(right)) or [ast.Pass()]
    except MergeError as error:
        raise MergeError(error.left, error.right, after_label=True) from None


def _header(node: ast.stmt) -> str:
    return "".join(ast.dump(value) for name, value in ast.iter_fields(node) if isinstance(value, ast.AST))


def _with_bodies(first: ast.stmt, second: ast.stmt) -> ast.stmt:
    fields = dict(ast.iter_fields(first))
    for name in ("body", "orelse"):
        if name in fields:
            fields[name] = merge(_stripped(fields[name]), _stripped(getattr(second, name)))
    fields["body"] = fields["body"] or [ast.Pass()]
    return ast.copy_location(type(first)(**fields), first)


def _stripped(body: Body) -> Body:
    return [each for each in body if not isinstance(each, ast.Pass)]


def _same(left: ast.AST | Sequence[ast.AST], right: ast.AST | Sequence[ast.AST]) -> bool:
    if isinstance(left, ast.AST) and isinstance(right, ast.AST):
        return ast.dump(left) == ast.dump(right)
    return [ast.dump(each) for each in left] == [ast.dump(each) for each in right]  # type: ignore[union-attr]


def waits_for_label(body: Body) -> bool:
    """Whether a behavior receives a select somewhere."""
    return any(is_choice(each) for node in body for each in ast.walk(node))


def is_choice(node: ast.AST) -> bool:
    """Whether this is a `match` on a received label."""
    return (
        isinstance(node, ast.Match)
        and isinstance(node.subject, ast.Call)
        and isinstance(node.subject.func, ast.Attribute)
        and node.subject.func.attr == "select"
    )
