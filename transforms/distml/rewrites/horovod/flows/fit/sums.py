"""What a loop adds up of the losses of `train_on_batch` becomes that of all ranks, behind the loop and where it is told."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from distml.rewrites.horovod.aspects import together
from distml.rewrites.horovod.aspects.means import Means
from distml.rewrites.horovod.aspects.setup import helper
from distml.rewrites.horovod.aspects.spelling import horovod_of
from distml.rewrites.horovod.aspects.totals import EqualShares
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.fit.models import Given, calls
from distml.rewrites.horovod.flows.session_frames import frames
from distml.rewrites.horovod.flows.tape.means import items_given, of_metrics
from distml.rewrites.horovod.plan import Plan
from distml.training.around import Looping, loops_around, own_nodes
from distml.training.program import Program

_MEAN = '''

def {name}(value):
    """The mean over all ranks of a number or an array, or of each number in a list."""
    mean = {np}.asarray({dist}.allreduce({np}.asarray(value, "float64")))
    return mean.tolist() if isinstance(value, (int, float, list)) else mean
'''
_SUM = '''

def {name}(value):
    """The sum over all ranks of a number or an array."""
    total = {np}.asarray({dist}.allreduce({np}.asarray(value, "float64"), op={dist}.Sum))
    return type(value)(total) if isinstance(value, (int, float)) else total
'''


def average(plan: Plan, steps: Iterable[Given]) -> None:
    """Behind the loops in which these steps take their batches."""
    program = plan.program
    given = [each for each in steps if not plan.patch(each.call).requests.expressions.get(each.call)]
    loops = {loop for each in given if (loop := _batches(each.call, program)) is not None}
    scalar = {each.call for each in given if _is_number(each, program)}
    numbers = {name for loop in loops for name in _numbers(loop, scalar, program)}
    means = Means(plan, Uniform(program, plan.dealt), numbers, _Spelling(plan))
    means.tell_sums(EqualShares(plan))
    means.average({*loops}, loops)
    of_metrics(plan, loops, means)


def _batches(call: ast.Call, program: Program) -> Looping | None:
    """The innermost loop around a step, or around what calls its function."""
    around = (loop for frame in frames(call, [], program) for loop in loops_around(frame.node, program))
    return next(around, None)


def _is_number(step: Given, program: Program) -> bool:
    """Whether a step gives a single loss: the model has one, and is compiled without metrics."""
    values = program.of(step.model)
    made = [each for each in calls(program, "compile") if program.of(Given(each, program).model) & values]
    losses = [(Given(each, program).one("loss"), Given(each, program).one("metrics")) for each in made]
    return bool(losses) and all(
        loss is not None and not isinstance(loss, ast.List | ast.Tuple | ast.Dict) and metrics is None
        for loss, metrics in losses
    )


def _numbers(loop: Looping, steps: set[ast.Call], program: Program) -> Iterator[str]:
    """The variables of a loop that get the loss of a step."""
    for node in own_nodes(loop, ast.Assign):
        for name, made in items_given(node.targets[0], node.value, program):
            if made and all(each in steps for each in made):
                yield name


class _Spelling(together.Spelling):
    """The functions that each file needs, with Horovod's module for Keras."""

    def mean_of(self, node: ast.AST, code: str) -> str:
        """The mean over all ranks of numbers, given as text."""
        return f"{helper(self.plan, node, 'mean_of_ranks', _MEAN, np=self.library(node))}({code})"

    def sum_of(self, node: ast.AST, code: str) -> str:
        """The sum over all ranks of a number, given as text."""
        return f"{helper(self.plan, node, 'sum_of_ranks', _SUM, np=self.library(node))}({code})"

    def gathering(self, node: ast.AST) -> str:
        """The function that gives a list with what each rank has."""
        return f"{horovod_of(self.plan, node)}.allgather_object"
