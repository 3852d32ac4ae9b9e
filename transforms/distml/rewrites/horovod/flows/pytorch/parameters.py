"""What an optimizer is given: parameters of models as a whole, or single tensors beside them.

Who broadcasts models, or wraps one, must know that nothing else is trained: `{"params": margin.weight}` is of no model found.
"""

from __future__ import annotations

import ast

from distml.source.bindings import last_name
from distml.source.nodes import walk
from distml.training.program import Program
from distml.training.syntax import targets_of

_METHODS = ("parameters", "named_parameters")
_SAME = frozenset("list tuple filter chain sorted set iter from_iterable".split())
DEEPEST = 6


def of_models(program: Program, node: ast.expr, depth: int = DEEPEST) -> bool:
    """Whether an expression gives parameters of models only: `model.parameters()`, lists and groups of them."""
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if name in _METHODS:
            return True
        given = [each for each in node.args if not isinstance(each, ast.Lambda)]
        return name in _SAME and all(of_models(program, each, depth) for each in given)
    if isinstance(node, ast.Starred):
        return of_models(program, node.value, depth)
    if isinstance(node, ast.BinOp):
        return of_models(program, node.left, depth) and of_models(program, node.right, depth)
    if isinstance(node, ast.List | ast.Tuple):
        return all(of_models(program, each, depth) for each in node.elts)
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        return all(of_models(program, v, depth) for k, v in zip(keys, node.values, strict=True) if k == "params")
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return all(of_models(program, each.iter, depth) for each in node.generators)
    return isinstance(node, ast.Name) and depth > 0 and _variable(program, node, depth - 1)


def _variable(program: Program, name: ast.Name, depth: int) -> bool:
    owner = program.owner(name)
    given: list[ast.expr] = []
    for node in walk(owner) if owner is not None else ():
        targets = targets_of(node)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            if any(isinstance(target, ast.Name) and target.id == name.id for target in targets):
                given.append(node.value)
    return all(of_models(program, each, depth) for each in given)
