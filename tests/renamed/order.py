"""Puts statements that have nothing to do with each other in another order."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

_PLAIN = (
    ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Tuple, ast.List, ast.operator, ast.unaryop,
    ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def reordered(text: str) -> str:
    """The program with neighbors exchanged that are provably independent, from the top of each block on.

    Independent are definitions of functions without decorators, imports of the standard library, and assignments of
    constants and names to variables of other names. Raises `ValueError` where the text would say something else.
    """
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    for block in _blocks(tree):
        at = 0
        while at + 1 < len(block):
            one, other = block[at], block[at + 1]
            if _independent(one, other) and _alone(one, other, lines):
                _exchange(lines, one, other)
                at += 1
            at += 1
    changed = "".join(lines)
    if sorted(ast.dump(each) for each in ast.walk(ast.parse(changed)) if isinstance(each, ast.expr)) != sorted(
        ast.dump(each) for each in ast.walk(tree) if isinstance(each, ast.expr)
    ):
        raise ValueError("the text in another order says something else")
    return changed


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks that hold no block, and those of modules: lines of the others move with them."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    if _end(one) - one.lineno != _end(other) - other.lineno:
        return False  # the lines of what stands inside must stay countable
    if isinstance(one, ast.Import) and isinstance(other, ast.Import):
        return all(alias.name in sys.stdlib_module_names for each in (one, other) for alias in each.names)
    if isinstance(one, ast.Assign) and isinstance(other, ast.Assign):
        made = [{t.id for t in each.targets if isinstance(t, ast.Name)} for each in (one, other)]
        read = [{n.id for n in ast.walk(each.value) if isinstance(n, ast.Name)} for each in (one, other)]
        plain = all(len(each.targets) == 1 and isinstance(each.targets[0], ast.Name) for each in (one, other))
        simple = all(isinstance(n, _PLAIN) for each in (one, other) for n in ast.walk(each.value))
        numbers = not any(isinstance(n, ast.Div | ast.Mod | ast.Pow) for each in (one, other) for n in ast.walk(each))
        return plain and simple and numbers and not (made[0] & (made[1] | read[1]) or made[1] & read[0])
    return False


def _alone(one: ast.stmt, other: ast.stmt, lines: list[str]) -> bool:
    """Whether both statements fill lines of their own, with nothing between them."""
    own = all(
        not lines[each.lineno - 1][: each.col_offset].strip()
        and not lines[_end(each) - 1].encode()[each.end_col_offset :].split(b"#")[0].strip()
        for each in (one, other)
    )
    return own and other.lineno == _end(one) + 1


def _exchange(lines: list[str], one: ast.stmt, other: ast.stmt) -> None:
    first = lines[one.lineno - 1 : _end(one)]
    second = lines[other.lineno - 1 : _end(other)]
    if not (first[-1].endswith("\n") and second[-1].endswith("\n")):
        return
    lines[one.lineno - 1 : _end(other)] = [*second, *first]


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
