"""Callbacks that end training by what one rank sees: all ranks end in the same batch, whichever of them found the reason.

Until an epoch ends each rank has metrics of its own, and always a clock. One that stops alone leaves the others waiting for its
gradients.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.setup import helper
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk

_TOGETHER = Note(
    "ended by all ranks when one ends",
    "ranks see different data: one that stops alone leaves the others waiting for its gradients",
    "leave-together",
)
_AGREED = "{0} = bool({1}.allreduce(float({0})) > 0)"
_CLASS = f'''

class {{name}}({{base}}):
    """Ends training on all ranks in the batch in which one ends it."""

    def on_batch_end(self, batch, logs=None):
        super().on_batch_end(batch, logs)
        {_AGREED.format("self.model.stop_training", "{dist}")}
'''


def of_library(plan: Plan, call: ast.Call) -> None:
    """Put a callback that agrees in the place of a library's that ends training in any batch."""
    base = spell(plan, call, "keras.callbacks.TerminateOnNaN", at_start=True)
    plan.patch(call).wrap(call.func, helper(plan, call, "StopTogether", _CLASS, base=base), _TOGETHER)


def of_process(plan: Plan, test: ast.expr) -> None:
    """Let all ranks end training where the condition holds on one: it is another one in each process."""
    agreed = f"bool({plan.world(test).module}.allreduce(float(bool({{}}))) > 0)"
    plan.patch(test).wrap(test, agreed, _TOGETHER)


def of_program(plan: Plan, stop: ast.Assign | ast.AugAssign) -> None:
    """Let all ranks know, at the end of the method that may end training; HVD308 where that end may not be reached."""
    function, target = plan.program.function(stop), stop.targets[0] if isinstance(stop, ast.Assign) else stop.target
    assert isinstance(function, ast.FunctionDef)
    own = function.args.args[0].arg if function.args.args else ""
    leaves = any(isinstance(node, ast.Return | ast.Raise) for node in walk(function))
    if leaves or not ast.unparse(target).startswith(f"{own}."):
        plan.warn(
            "HVD308",
            stop,
            "this stops training in the middle of an epoch, based on the metrics of a single rank",
            "decide in `on_epoch_end`, where metrics are averaged over all ranks",
        )
        return
    code = _AGREED.format(ast.unparse(target), plan.world(stop).module)
    plan.patch(stop).end(function, code, _TOGETHER)
