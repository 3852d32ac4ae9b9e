"""Whether evaluating a condition may do more than give a truth value.

A condition that is removed is no longer evaluated. That is only right where it reads: shapes, attributes,
items, arithmetic and comparisons, and the calls listed here.
"""

from __future__ import annotations

import ast

from distml.source.bindings import last_name
from distml.source.nodes import walk

_BUILTINS = frozenset(
    {
        *("abs", "bool", "callable", "divmod", "float", "getattr", "hasattr", "int", "isinstance", "issubclass"),
        *("len", "range", "round", "str", "type"),
    }
)
_ITERATE = frozenset("all any enumerate list max min reversed set sorted sum tuple zip".split())
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

_SAYS: dict[type[ast.AST], str] = {ast.Await: "waits (`await`)", ast.Yield: "yields", ast.YieldFrom: "yields"}


def effect(condition: ast.expr, bound: frozenset[str]) -> str | None:
    """What evaluating `condition` may do beside giving a value, None if nothing; `bound` are names the file defines."""
    for node in walk(condition):
        if isinstance(node, ast.NamedExpr):
            return f"assigns `{ast.unparse(node.target)}`"
        if type(node) in _SAYS:
            return _SAYS[type(node)]
        if isinstance(node, ast.Call) and not _reads(node.func, bound):
            return f"calls `{ast.unparse(node.func)}`"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
            if not _is_nonzero(node.right):
                return f"divides by `{ast.unparse(node.right)}`, which may be 0"
        if isinstance(node, ast.Call) and last_name(node.func) == "len" and not all(map(_is_sequence, node.args)):
            return f"asks `{ast.unparse(node)}`, and a tensor without axes has none"
        for each in _iterated(node):
            if not _is_sequence(each):
                return f"iterates over `{ast.unparse(each)}`, which may exhaust it"
    return None


def _is_nonzero(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and bool(number.value)


def _reads(function: ast.expr, bound: frozenset[str]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _BUILTINS | _ITERATE and function.id not in bound
    if not isinstance(function, ast.Attribute):
        return False
    root = function.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in _MODULES:
        return function.attr in _FUNCTIONS
    return function.attr in _METHODS


def _iterated(node: ast.AST) -> list[ast.expr]:
    """What a node takes one item after the other from."""
    if isinstance(node, ast.comprehension):
        return [node.iter]
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ITERATE:
        several = node.func.id in ("max", "min") and len(node.args) > 1
        return [] if several else node.args
    return []


def _is_sequence(node: ast.expr) -> bool:
    """Whether something is surely still there when it has been gone through: shapes, displays and what is made of them."""
    if isinstance(node, ast.Subscript | ast.Starred):
        return _is_sequence(node.value)
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) and _is_sequence(node.right)
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        return name in ("size", "stride", "range", "Size", "broadcast_shapes") or name in _ITERATE
    displays = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Constant, ast.ListComp, ast.SetComp, ast.GeneratorExp)
    return isinstance(node, displays) or (isinstance(node, ast.Attribute) and node.attr == "shape")
