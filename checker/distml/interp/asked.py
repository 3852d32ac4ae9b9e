"""What a function asks of a parameter: evidence against the library that an annotation names.

`boxes: Tensor` says how the author thinks of `boxes`. Where the function asks of it, or of what it makes of it, something
that only another library's arrays have (`scores.argsort()[::-1].astype(int)`) and nothing that only a `Tensor` has, the
annotation is wrong about the library: it is an array of a library that is not known.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from distml.ops.dialect import NUMPY, TORCH, Dialect
from distml.ops.registry import find_attribute, find_op

_REMEMBERED = "distml_asked"
_BACKWARDS = "[::-1]"
"""A slice that steps back, which sequences and arrays of NumPy take and tensors of PyTorch do not."""
_ASKED = (NUMPY, TORCH)
"""Those that are used side by side, so that annotations mix them up."""


def is_contradicted(function: ast.AST, parameter: str, lib: str) -> bool:
    """Whether what a function asks of a parameter speaks against the library that its annotation names."""
    claimed = next((dialect for dialect in _ASKED if dialect.name == lib), None)
    if claimed is None:
        return False
    others = [dialect for dialect in _ASKED if dialect is not claimed]
    asked = asked_of(function, parameter)
    own = {name for name in asked if _has(claimed, name)}
    theirs = {name for name in asked if any(_has(other, name) for other in others)}
    return bool(theirs - own) and not own - theirs


def _has(dialect: Dialect, name: str) -> bool:
    if name == _BACKWARDS:
        return dialect.steps_back
    full = f"{dialect.tensor}.{name}"
    return find_op(full) is not None or find_attribute(full) is not None


def _steps_back(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    steps = [part.step for part in parts if isinstance(part, ast.Slice)]
    return any(isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub) for step in steps)


def asked_of(function: ast.AST, parameter: str) -> frozenset[str]:
    """The attributes that a function asks of a parameter and of what it makes of it by attributes, calls and items."""
    known: dict[str, frozenset[str]] | None = getattr(function, _REMEMBERED, None)
    if known is None:
        known = {}
        setattr(function, _REMEMBERED, known)
    if parameter not in known:
        known[parameter] = _asked_of(function, parameter)
    return known[parameter]


def _asked_of(function: ast.AST, parameter: str) -> frozenset[str]:
    attributes: defaultdict[str, set[str]] = defaultdict(set)
    made: defaultdict[str, set[str]] = defaultdict(set)
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            attributes[_root(node)].add(node.attr)
        elif isinstance(node, ast.Subscript) and _steps_back(node.slice):
            attributes[_root(node)].add(_BACKWARDS)
        elif isinstance(node, ast.Assign):
            made[_root(node.value)].update(target.id for target in node.targets if isinstance(target, ast.Name))
    names, waiting = {parameter}, [parameter]
    while waiting:
        new = made[waiting.pop()] - names
        names |= new
        waiting.extend(new)
    return frozenset(attribute for name in names for attribute in attributes[name])


def _root(node: ast.AST) -> str:
    """The name that a chain of attributes, calls and items begins with; "" for anything else."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
