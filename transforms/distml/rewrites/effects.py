"""Whether evaluating a condition may do more than give a truth value.

A condition that is removed is no longer evaluated. That is only right where it reads: shapes, attributes,
items, arithmetic and comparisons, and the calls listed here.
"""

from __future__ import annotations

import ast

_BUILTINS = frozenset(
    {
        *("abs", "all", "any", "bool", "callable", "divmod", "float", "getattr", "hasattr", "int", "isinstance"),
        *("issubclass", "len", "list", "max", "min", "range", "round", "set", "sorted", "str", "sum", "tuple", "type"),
        *("enumerate", "zip", "reversed"),
    }
)
_METHODS = frozenset(
    {
        *("size", "dim", "ndimension", "numel", "nelement", "stride", "is_contiguous", "is_floating_point"),
        *("is_complex", "is_signed", "element_size", "storage_offset", "get_device", "type"),
        *("count", "index", "startswith", "endswith"),
    }
)
_MODULES = frozenset({"torch", "math", "np", "numpy"})
_FUNCTIONS = frozenset(
    {
        *("is_tensor", "numel", "is_floating_point", "is_complex", "Size", "is_scripting", "is_tracing", "prod"),
        *("floor", "ceil", "sqrt", "log2", "isqrt", "gcd", "ndim", "shape", "size", "broadcast_shapes"),
    }
)


def effect(condition: ast.expr, bound: frozenset[str]) -> str | None:
    """What evaluating `condition` may do beside giving a value, None if nothing; `bound` are names the file defines."""
    for node in ast.walk(condition):
        if isinstance(node, ast.NamedExpr):
            return f"assigns `{ast.unparse(node.target)}`"
        if isinstance(node, ast.Await):
            return "waits (`await`)"
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return "yields"
        if isinstance(node, ast.Call) and not _reads(node.func, bound):
            return f"calls `{ast.unparse(node.func)}`"
    return None


def _reads(function: ast.expr, bound: frozenset[str]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _BUILTINS and function.id not in bound
    if not isinstance(function, ast.Attribute):
        return False
    root = function.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in _MODULES:
        return function.attr in _FUNCTIONS
    return function.attr in _METHODS
