"""Where a program asks an array for one value: the truth of a condition, a number in a text (SHP308)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.findings import fail
from distml.interp.truth import truth
from distml.ops import Call, ShapeError
from distml.ops.dialect import dialect
from distml.ops.rules.one_value import require_items, require_percent, require_scalar, require_truth
from distml.values import Const, Many, Tensor, Union, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine


def asked(vm: Machine, value: Value, node: ast.AST) -> bool | None:
    """Whether a value counts as true, where the program wants to know; None when unknown, and where it is a mistake to ask."""
    if isinstance(value, Tensor | Union) and not _may_be_identity(value, node):
        _require(vm, require_truth, node, value)
    return truth(vm, value)


def _may_be_identity(value: Value, node: ast.AST) -> bool:
    """Whether what is asked for may be whether two tensors are one object."""
    if not isinstance(node, ast.Compare) or not isinstance(value, Tensor) or not dialect(value.lib).equal_or_same:
        return False
    return any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops)


def items_of(vm: Machine, value: Value, node: ast.AST) -> tuple[Value, ...] | Many:
    """What iterating over a value gives, where the program does; a finding where it has no items."""
    if isinstance(value, Tensor | Union):
        _require(vm, require_items, node, value)
    return vm.iterate(value)


def filled_in(vm: Machine, left: Value, right: Value, node: ast.AST) -> None:
    """`text % right`, if that is what an operator does."""
    if isinstance(left, Const) and isinstance(left.value, str):
        _require(vm, require_percent, node, left.value, right)


def formatted(vm: Machine, value: Value, spec: Value, node: ast.AST) -> None:
    """`{value:spec}`"""
    if isinstance(spec, Const) and isinstance(spec.value, str):
        _require(vm, require_scalar, node, value, spec.value)


def _require(vm: Machine, rule: Callable[..., None], node: ast.AST, *args: object) -> None:
    call = Call(vm, "", "builtins", vm.snippet(node, 40))
    try:
        rule(call, *args)
    except ShapeError as error:
        fail(vm, error, node)
