"""Annotations: they refine what is unknown and are checked where both are known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.values import Function, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def refine_parameter(vm: Machine, argument: ast.arg, value: Value) -> Value:
    return value


def refine_return(vm: Machine, function: Function, value: Value) -> Value:
    return value


def annotate(vm: Machine, annotation: ast.expr, value: Value, target: ast.expr, node: ast.AST) -> Value:
    return value
