"""How far a pass has come is told of the rank's own part, and so is what it is told beside: how much there is in all."""

from __future__ import annotations

import ast
from itertools import takewhile

from distml.rewrites.horovod.aspects.outputs import kind_of
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.callsites import called
from distml.training.program import Program

_PART = Note("number of this rank's samples or batches", "each rank processes its own part of the data", "own-samples")
_SHOWING = ("format", "set_description", "set_postfix", "set_description_str", "set_postfix_str")


def divide(plan: Plan, number: ast.expr) -> None:
    """Ask for the part of a rank in the place of a number."""
    code = f"{{}} // {plan.world(number).size}"
    within = isinstance(plan.program.parent(number), ast.BinOp | ast.UnaryOp | ast.Attribute)
    plan.patch(number).wrap(number, f"({code})" if within else code, _PART)


def asked(plan: Plan, number: ast.expr) -> bool:
    """Whether a number, or one that is computed of it, is changed already."""
    expressions = plan.patch(number).requests.expressions
    around = takewhile(lambda each: isinstance(each, ast.BinOp), plan.program.ancestors(number))
    return any(expressions.get(each) for each in (*walk(number), *around) if isinstance(each, ast.expr))


def showing(node: ast.expr, program: Program) -> ast.expr | None:
    """The text that something becomes a part of, with what else is in it, or the call that shows it; None for neither."""
    for above in program.ancestors(node):
        text = above.left if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mod) else above
        if isinstance(text, ast.JoinedStr) or (isinstance(text, ast.Constant) and isinstance(text.value, str)):
            return above if isinstance(above, ast.expr) else None
        if isinstance(above, ast.Call) and (kind_of(above, program) == "output" or called(above, program) in _SHOWING):
            return above
        if isinstance(above, ast.stmt):
            return None
    return None
