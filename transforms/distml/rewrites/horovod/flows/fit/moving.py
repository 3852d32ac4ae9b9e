"""What batch normalization keeps of the data it has seen: each rank has seen its own part."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.flows.fit.models import Given
from distml.rewrites.horovod.flows.fit.vocabularies import keeps_words
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.program import Program
from distml.training.remembered import remembered

_NOTE = Note(
    "moving averages of batch normalization averaged over the ranks",
    "they are running statistics of each rank's own data, which gradients do not synchronize",
    "moving-averages",
)
_NORMALIZES = re.compile(r"keras\.(layers\.(\w+\.)*BatchNormalization|applications\.(\w+\.)*[A-Z]\w*)")


def average(plan: Plan, module: str, arguments: Given) -> None:
    """Let all ranks go on with the same moving averages behind one call of `fit`."""
    program, call = plan.program, arguments.call
    statement = program.statement(call)
    simple = isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) and statement.value is call
    if not simple or not isinstance(arguments.model, ast.Name | ast.Attribute):
        return
    if _normalizes(program) and not keeps_words(program):
        model = ast.unparse(arguments.model)
        code = f"{model}.set_weights([{module}.allreduce(each) for each in {model}.get_weights()])"
        plan.patch(statement).after(statement, code, _NOTE)


@remembered
def _normalizes(program: Program) -> bool:
    """Whether any model of a program keeps moving averages."""
    return any(_NORMALIZES.fullmatch(name) for each in program.calls for name in program.names(each.func))
