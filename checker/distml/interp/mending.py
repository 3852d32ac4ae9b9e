"""Fixes of findings that have one answer: a size computed with `/` where `//` gives the same number as an integer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from distml.diagnostics.model import Edit, Fix, Span
from distml.values import Const

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def whole_division(vm: Machine, call: ast.AST) -> Fix | None:
    """`//` for each `/` among the arguments of a call that divides whole numbers without a rest."""
    edits = [edit for part in _arguments(call) if _exact(vm, part) and (edit := _doubled(vm, part))]
    return Fix("divide with //", tuple(edits)) if edits else None


def _arguments(call: ast.AST) -> Iterator[ast.expr]:
    """The arguments, those in a tuple or a list one by one."""
    if isinstance(call, ast.Call):
        for each in (*call.args, *(keyword.value for keyword in call.keywords)):
            yield from each.elts if isinstance(each, ast.Tuple | ast.List) else [each]


def _exact(vm: Machine, node: ast.expr) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return False
    left, right = _number(vm, node.left), _number(vm, node.right)
    return left is not None and right is not None and right != 0 and left % right == 0


def _number(vm: Machine, node: ast.expr) -> int | None:
    """The integer that a name, an attribute of a name or a literal stands for: what can be read again without effect."""
    base = node.value if isinstance(node, ast.Attribute) else node
    if not isinstance(base, ast.Name | ast.Constant):
        return None
    value = vm.language.evaluate(vm, node)
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def _doubled(vm: Machine, node: ast.expr) -> Edit | None:
    """The edit that makes `/` of a division `//`; none where operator and operands are on several lines."""
    assert isinstance(node, ast.BinOp)
    left, right = vm.span(node.left, vm.frame), vm.span(node.right, vm.frame)
    if left.end_line != right.line:
        return None
    between = vm.frame.module.source.lines[left.end_line - 1][left.end_column - 1 : right.column - 1]
    column = left.end_column + between.index("/") + 1
    return Edit(Span(left.path, left.end_line, column, left.end_line, column), "/")
