"""Tensors of TensorFlow that are a single number for sure."""

from __future__ import annotations

import ast
import re

from distml.training.program import Program
from distml.training.values import Foreign

_REDUCES = re.compile(
    r"tensorflow\.(reduce_(mean|sum)|math\.reduce_(mean|sum)|nn\.l2_loss|add_n|(contrib\.)?losses\.\w+)\(\)"
)
_KEEPS = re.compile(
    r"tensorflow\.(math\.)?(cast|identity|sqrt|exp|log|negative|abs|to_float|stop_gradient|check_numerics)\(\)"
)
_AXES = frozenset({"axis", "axes", "reduction_indices", "keepdims", "keep_dims", "reduction"})
_DEEPEST = 8


def scalar(node: ast.AST, program: Program, depth: int = _DEEPEST) -> bool:
    """Whether a tensor is a single number for sure."""
    values = program.of(node)
    return bool(values) and all(
        isinstance(each, Foreign) and each.node is not None and _reduced(each, program, depth) for each in values
    )


def _reduced(value: Foreign, program: Program, depth: int) -> bool:
    node = value.node
    if isinstance(node, ast.UnaryOp):
        return depth > 0 and scalar(node.operand, program, depth - 1)
    if isinstance(node, ast.BinOp):
        parts = (node.left, node.right)
        return (
            depth > 0
            and any(scalar(each, program, depth - 1) for each in parts)
            and all(scalar(each, program, depth - 1) or not _tensor(each, program) for each in parts)
        )
    if not isinstance(node, ast.Call) or depth == 0:
        return False
    if _REDUCES.fullmatch(value.name):
        return len(node.args) < 2 + ("losses." in value.name) and not _AXES & {each.arg for each in node.keywords}
    return bool(_KEEPS.fullmatch(value.name)) and bool(node.args) and scalar(node.args[0], program, depth - 1)


def _tensor(node: ast.AST, program: Program) -> bool:
    return any(any("tensorflow" in name for name in program.callee(each)) for each in program.sources(node))
