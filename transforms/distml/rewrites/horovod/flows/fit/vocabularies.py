"""Models that keep a vocabulary: among their variables is one that is not a tensor, which Horovod's callback cannot give."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.fit.models import Given
from distml.rewrites.horovod.plan import Plan
from distml.training.program import Program
from distml.training.remembered import remembered

_LOOKUPS = re.compile(r"keras\.layers\.(\w+\.)*(TextVectorization|StringLookup|IntegerLookup)")


@remembered
def keeps_words(program: Program) -> bool:
    """Whether a program uses layers that look things up in a vocabulary."""
    return any(_LOOKUPS.fullmatch(name) for call in program.calls for name in program.names(call.func))


def broadcast(plan: Plan, module: str, arguments: Given) -> str:
    """The callback that gives all ranks the weights of rank 0, behind the first batch.

    What optimizers keep of that batch comes from averaged gradients, and is alike already.
    """
    if not keeps_words(plan.program) or not isinstance(arguments.model, ast.Name | ast.Attribute):
        return f"{module}.callbacks.BroadcastGlobalVariablesCallback(0)"
    given = f"each.assign({module}.broadcast(each.numpy(), root_rank=0))"
    variables = f'{ast.unparse(arguments.model)}.variables if hasattr(each, "ref")'
    kind = spell(plan, arguments.call, "keras.callbacks.LambdaCallback")
    return f"{kind}(on_train_batch_end=lambda batch, logs: batch or [{given} for each in {variables}])"
