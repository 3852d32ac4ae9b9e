"""Which conditions are about shapes: those that read one, or a name that came from one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.solver.formula import symbols
from distml.source.bindings import last_name
from distml.values import Condition, Num, ShapeSeq, Tensor

if TYPE_CHECKING:
    from distml.interp.machine import Machine

READS = frozenset({"shape", "ndim", "size", "dim", "ndimension", "numel", "nelement"})
_REMEMBERED = "distml_from_shapes"


def reads_shapes(vm: Machine, test: ast.expr) -> bool:
    """Whether an expression reads the shape of something, directly or through a local name."""
    function = vm.frame.function
    names = _names_from_shapes(function.node) if function is not None else frozenset()
    return _reads(test, names) or _measures(vm, test)


def _measures(vm: Machine, test: ast.expr) -> bool:
    """`len(x)` of a tensor, or a name whose value is a size."""
    for part in ast.walk(test):
        if isinstance(part, ast.Name):
            value = vm.variable(vm.frame.ident, part.id)
            if isinstance(value, Num | ShapeSeq) or (isinstance(value, Condition) and symbols(value.formula)):
                return True
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "len" and part.args:
            argument = part.args[0]
            if isinstance(argument, ast.Name) and isinstance(vm.variable(vm.frame.ident, argument.id), Tensor):
                return True
    return False


def _reads(expression: ast.AST, names: frozenset[str]) -> bool:
    for part in ast.walk(expression):
        if isinstance(part, ast.Attribute) and part.attr in READS:
            return True
        if isinstance(part, ast.Name) and part.id in names:
            return True
    return False


def _names_from_shapes(function: ast.AST) -> frozenset[str]:
    """The local names assigned from sizes: `b, t = x.shape`, then `n = b * t`."""
    known: frozenset[str] | None = getattr(function, _REMEMBERED, None)
    if known is None:
        known = _collect(function)
        setattr(function, _REMEMBERED, known)
    return known


def _collect(function: ast.AST) -> frozenset[str]:
    names: frozenset[str] = frozenset()
    pairs = [
        (target, part.value)
        for part in ast.walk(function)
        if isinstance(part, ast.Assign)
        for target in part.targets
        if _is_measure(part.value)
    ]
    while True:
        found = {
            leaf.id
            for target, value in pairs
            if _reads(value, names)
            for leaf in ast.walk(target)
            if isinstance(leaf, ast.Name) and isinstance(leaf.ctx, ast.Store)
        }
        if found <= names:
            return names
        names |= found


def _is_measure(value: ast.expr) -> bool:
    """An expression that can only be made of sizes: no call that could make a tensor of them."""
    for part in ast.walk(value):
        if isinstance(part, ast.Call):
            name = last_name(part.func)
            if name not in READS and name not in ("len", "int", "max", "min", "abs", "tuple", "list", "prod"):
                return False
    return True
