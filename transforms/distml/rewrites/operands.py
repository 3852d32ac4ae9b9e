"""Chains of `and` or `or`: `a and b and c` is three operands, which LibCST nests to the left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import libcst as cst

from distml.rewrites.model import Verdict


class Chain(NamedTuple):
    """The operands, and the operator in front of each but the first."""

    operands: list[cst.BaseExpression]
    operators: list[cst.BaseBooleanOp]


def chain(node: cst.BooleanOperation) -> Chain:
    """The operands of `node` that belong to one and the same `and` or `or`."""
    left = node.left
    if isinstance(left, cst.BooleanOperation) and not left.lpar and type(left.operator) is type(node.operator):
        before = chain(left)
        return Chain([*before.operands, node.right], [*before.operators, node.operator])
    return Chain([left, node.right], [node.operator])


def rebuild(parts: Chain, verdicts: Mapping[int, Verdict], conjunction: bool) -> cst.BaseExpression:
    """The chain without what `verdicts` make superfluous.

    Where an operand of `and` always holds it is left out; where it never does, nothing behind it is evaluated. For `or`
    it is the other way round. The value stays the same, not only its truth, unless the last operand is left out.
    """
    neutral: Verdict = "always" if conjunction else "never"
    kept: list[int] = []
    for number in range(len(parts.operands)):
        if verdicts.get(number) != neutral:
            kept.append(number)
        if number in verdicts and verdicts[number] != neutral:
            break
    if not kept:
        kept = [len(parts.operands) - 1]
    result = parts.operands[kept[0]]
    for number in kept[1:]:
        result = cst.BooleanOperation(left=result, operator=parts.operators[number - 1], right=parts.operands[number])
    return result
