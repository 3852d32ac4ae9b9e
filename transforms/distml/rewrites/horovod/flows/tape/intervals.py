"""How often loops over tapes evaluate and save, and when they end: a rank takes fewer steps for as much data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from distml.rewrites.horovod.aspects import intervals
from distml.rewrites.horovod.aspects.intervals import limits
from distml.rewrites.horovod.aspects.pictures import saves
from distml.rewrites.horovod.aspects.rates import settings
from distml.rewrites.horovod.aspects.tf_data import counts_divided
from distml.rewrites.horovod.aspects.uniform import ITERATIONS
from distml.rewrites.horovod.flows.tape.turns import Turn, ways
from distml.rewrites.horovod.flows.tape.updates import updates
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, Looping
from distml.training.callers import Reach
from distml.training.program import Program
from distml.training.syntax import nodes_in

_JUDGES = re.compile(
    r"keras\.(Model|Sequential)\(\)(\.\w+\(\))*\.((evaluate|predict)(_generator)?|(test|predict)_on_batch)"
)


def shorten(plan: Plan) -> None:
    """Ask for shorter intervals in the loops over divided data, and for fewer steps where they end by their number, when all
    these loops are known.
    """
    plan.later.append(partial(_shorten, plan))


def _shorten(plan: Plan) -> None:
    program = plan.program
    training = Reach(program, [update.call for update in updates(program)])
    _as_often(plan, training, Reach(program, [*_saves(program), *_evaluations(program)]))


def of_keras(plan: Plan) -> None:
    """Ask for the same in loops whose steps are calls of `train_on_batch`."""
    plan.later.append(partial(_of_keras, plan))


def _of_keras(plan: Plan) -> None:
    program = plan.program
    judging = [*_saves(program), *(call for call in program.calls if program.matches(call.func, _JUDGES))]
    _as_often(plan, Reach(program, [loop.node for loop in plan.loops]), Reach(program, judging))


def _as_often(plan: Plan, training: Reach, judging: Reach) -> None:
    """Ask for it, where `training` leads to steps, and `judging` to what evaluates and saves."""
    program = plan.program
    rates = {place for place, _ in settings(program)}

    def judges(branch: ast.If) -> bool:
        sometimes = training.holds_any(branch.body) and not training.holds_any(branch.orelse)
        acts = judging.holds_any(branch.body) or any(each in rates for part in branch.body for each in walk(part))
        return acts and not sometimes

    def acts(branch: ast.If) -> bool:
        return judges(branch) or training.holds_any(branch.body) != training.holds_any(branch.orelse)

    for loop, others in plan.fewer.items():
        if isinstance(loop, LOOPS):
            counters = _numbers(loop, program)
            names = intervals.numbered(loop, counters, program) - others
            ends = limits(loop, intervals.numbered(loop, counters, program, sums=False) - others, program)
            whole = (bound for bound in ends if not counts_divided(plan, bound))
            intervals.as_often(plan, loop, names, judges, acts, whole)


def _saves(program: Program) -> Iterator[ast.AST]:
    return (each for each in program.calls if saves(each, program))


def _evaluations(program: Program) -> Iterator[ast.AST]:
    """What asks a model of Keras to judge, and the loops over data that no step is taken in."""
    yield from (call for call in program.calls if program.matches(call.func, _JUDGES))
    trained = {turn.node for update in updates(program) for way in ways(update.call, program) for turn in way.turns}
    for node in program.nodes(ast.AST):
        if isinstance(node, ast.For | ast.comprehension) and node not in trained:
            if Turn(node, node.iter, program).kind == "dataset":
                yield node


def _numbers(loop: Looping, program: Program) -> set[str]:
    """The variables that count the steps of a loop, those of optimizers among them."""
    held = nodes_in(loop, ast.Attribute)
    steps = (each for each in held if program.matches(each, ITERATIONS))
    return intervals.counted(loop, program) | {ast.unparse(each) for each in steps}
