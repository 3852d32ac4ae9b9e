"""What a TensorFlow 1 program feeds to its training steps, divided among the ranks.

A step of all ranks together stands for as many steps of one process: in each round of n batches rank r takes the r-th.
Where the batches come from a loop the ranks take turns in it; where a call draws them, it draws for all ranks and each
keeps its own; where all data is fed at once, each rank feeds a part of it. All ranks make equally many steps, and
generators of random numbers stay in step.
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.flows import session_pipelines as pipelines
from distml.rewrites.horovod.flows.session_draws import Draw, draws
from distml.rewrites.horovod.flows.session_feeds import Feed, entries, sliceable
from distml.rewrites.horovod.flows.session_frames import Reach, frames, inside, loops, reached, targets
from distml.rewrites.horovod.flows.session_graph import Graph, Run
from distml.rewrites.horovod.flows.session_steps import divide, few
from distml.rewrites.horovod.flows.session_turns import take_turns
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.program import Program

_SEED = re.compile(r"(numpy\.)?random\.(seed|RandomState|Random|default_rng)")
_DRAW = Note(
    "one batch drawn for each rank, of which this one keeps its own",
    "ranks that draw the same batches compute one gradient many times",
    "shard-batches",
)
_PART = Note(
    "every rank feeds its part of the data",
    "all data is in one batch, and the average of the parts' gradients is the gradient of the whole",
    "shard-batches",
)


def distribute(plan: Plan, graph: Graph, runs: list[Run]) -> bool:
    """Divide what `runs` feed, and their steps. False where the batch of all ranks is no larger than it was."""
    if plan.options.shard == "none":
        return True
    larger = False
    for run in runs:
        larger |= _run(plan, graph, run)
    return larger


def _run(plan: Plan, graph: Graph, run: Run) -> bool:
    program = plan.program
    feeds = entries(run, graph)
    chain = frames(run.call, [each.value for each in feeds], program)
    around = [loop for frame in chain for loop in loops(frame.node, program)]
    if not feeds:
        found = pipelines.divide(plan, graph, run)
        if found:
            _counted(plan, around, run)
        return found
    for number, frame in enumerate(chain):
        inner = list(loops(frame.node, program))
        outer = [loop for later in chain[number + 1 :] for loop in loops(later.node, program)]
        own = [frame.owner] if isinstance(frame.owner, ast.FunctionDef) and outer else []
        for scope in (*inner, *own):
            reach = reached(frame.feeds, scope)
            if isinstance(scope, ast.For) and targets(scope.target) & reach.names:
                _dealt(plan, scope, reach, around, run)
                return True
            drawn = draws(reach, scope, program)
            if drawn:
                _each(plan, drawn)
                _counted(plan, around[around.index(scope) :] if scope in inner else outer, run)
                return True
            if isinstance(scope, ast.While) and _moves(scope) & reach.names:
                return _whole(plan, feeds, run)
    return _whole(plan, feeds, run) if around else True


def _dealt(plan: Plan, loop: ast.For, reach: Reach, around: list[ast.For | ast.While], run: Run) -> None:
    """A loop over batches: the ranks take turns in it."""
    if plan.options.shard == "auto":
        take_turns(plan, loop, reach)
    else:
        _counted(plan, around, run)


def _each(plan: Plan, drawn: list[Draw]) -> None:
    """Draw for all ranks; random numbers only where a seed gives all ranks the same."""
    for draw in drawn:
        if plan.options.shard == "auto" and (draw.counts or seeded(plan.program)):
            world = plan.world(draw.call)
            plan.patch(draw.call).wrap(draw.call, f"[{{}} for _ in range({world.size})][{world.rank}]", _DRAW)


def seeded(program: Program) -> bool:
    """Whether the program fixes the random numbers of Python or NumPy."""
    return any(_SEED.fullmatch(name) for call in program.calls if call.args for name in program.names(call.func))


def _moves(loop: ast.While) -> set[str]:
    """The variables that a loop counts up."""
    return {name for n in inside(loop) if isinstance(n, ast.AugAssign) for name in targets(n.target)}


def _counted(plan: Plan, around: list[ast.For | ast.While], run: Run) -> None:
    """Divide the turns of the loop that makes the steps: the innermost that is not part of a step itself."""
    found = list(around)
    while len(found) > 1 and few(found[0], plan.program):
        found.pop(0)
    if found and not divide(plan, found[0]) and not _ends_with_data(found[0], plan.program):
        plan.warn(
            "HVD303",
            run.call,
            "nobody can see how many steps the loop around this one makes, so that their number stays as it is",
            f"divide it by {plan.world(run.call).size}",
        )


def _ends_with_data(loop: ast.For | ast.While, program: Program) -> bool:
    """Whether a loop ends when its data set does, or when its session says so."""
    text = ast.unparse(loop)
    return (
        "OutOfRangeError" in text
        or "should_stop" in text
        or any(
            isinstance(above, ast.Try)
            and "OutOfRangeError" in "".join(ast.unparse(h.type) for h in above.handlers if h.type)
            for above in program.ancestors(loop)
        )
    )


def _whole(plan: Plan, feeds: list[Feed], run: Run) -> bool:
    """All data in every step: each rank feeds a part, if the placeholders take parts."""
    data = [each for each in feeds if sliceable(each, plan.program) is not False]
    if plan.options.shard == "auto" and data and all(sliceable(each, plan.program) for each in data):
        for each in data:
            world = plan.world(each.value)
            plan.patch(each.value).wrap(each.value, f"{{}}[{world.rank}::{world.size}]", _PART)
        return False
    plan.warn(
        "HVD302",
        run.call,
        "every rank feeds the same data in every step here, so that all compute the same gradient",
        f"feed each rank its part, such as `x[{plan.world(run.call).rank}::{plan.world(run.call).size}]`",
    )
    return False
