"""What a TensorFlow 1 program feeds to its training steps, divided among the ranks.

A step of all ranks together stands for as many steps of one process: in each round of n batches rank r takes the r-th.
Where the batches come from a loop the ranks take turns in it; where a call draws them, it draws for all ranks and each
keeps its own; where all data is fed at once, each rank feeds a part of it. All ranks make equally many steps, and
generators of random numbers stay in step.
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.flows.session_feeds import Feed, entries, sliceable
from distml.rewrites.horovod.flows.session_frames import Frame, Reach, frames, inside, loops, reached, targets
from distml.rewrites.horovod.flows.session_graph import Graph, Run
from distml.rewrites.horovod.flows.session_steps import divide, few
from distml.rewrites.horovod.flows.session_turns import take_turns
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.program import Program
from distml.training.values import Callable, Foreign

_DRAWS = re.compile(r"next|batch|sample|draw|fetch|load|feed|generate|random|minibatch|get_", re.IGNORECASE)
_RANDOM = re.compile(r"(numpy\.)?random\.(\w+|RandomState\(\)\.\w+|Random\(\)\.\w+|default_rng\(\)\.\w+)")
_SEED = re.compile(r"(numpy\.)?random\.(seed|RandomState|Random|default_rng)")
_PURE = re.compile(r"(numpy|builtins|math|itertools|tensorflow|pandas|scipy|string|re|os)(\..*)?")
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
    around = [(frame, loop) for frame in chain for loop in loops(frame.node, program)]
    if not feeds:
        _counted(plan, around, run)
        return True
    for frame, loop in around:
        reach = reached(frame.feeds, loop)
        if isinstance(loop, ast.For) and targets(loop.target) & reach.names:
            if plan.options.shard == "auto":
                take_turns(plan, loop, reach, run)
            else:
                _counted(plan, around, run)
            return True
        draws = _draws(reach, loop, program)
        if draws:
            for draw in draws:
                _drawn(plan, draw)
            _counted(plan, around[[each for _, each in around].index(loop) :], run)
            return True
        if isinstance(loop, ast.While) and _moves(loop) & reach.names:
            break
    if not around:
        return True
    return _whole(plan, feeds, run)


def _draws(reach: Reach, loop: ast.AST, program: Program) -> list[ast.Call]:
    """The calls inside a loop that draw what is fed: those whose own arguments hold nothing drawn in this turn."""
    within = set(inside(loop))
    calls = [node for part in reach.parts for node in ast.walk(part) if isinstance(node, ast.Call) and node in within]
    drawing = [call for call in dict.fromkeys(calls) if _is_draw(call, program)]
    return [each for each in drawing if not any(each is not o and each in set(ast.walk(o)) for o in drawing)]


def _is_draw(call: ast.Call, program: Program) -> bool:
    names = program.names(call.func)
    if any(_RANDOM.fullmatch(name) for name in names) or "builtins.next" in names:
        return True
    values = program.of(call.func)
    if any(isinstance(value, Callable) for value in values):
        return True
    if names and all(_PURE.fullmatch(name) and "()" not in name for name in names):
        return False
    text = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return bool(_DRAWS.search(text)) and not any(isinstance(v, Foreign) and v.name.startswith("numpy.") for v in values)


def _drawn(plan: Plan, call: ast.Call) -> None:
    """Draw for all ranks; random numbers only where a seed gives all ranks the same."""
    names = plan.program.names(call.func)
    if any(_RANDOM.fullmatch(name) for name in names) and not seeded(plan.program):
        return
    if plan.options.shard == "auto":
        world = plan.world(call)
        plan.patch(call).wrap(call, f"[{{}} for _ in range({world.size})][{world.rank}]", _DRAW)


def seeded(program: Program) -> bool:
    """Whether the program fixes the random numbers of Python or NumPy."""
    return any(_SEED.fullmatch(name) for call in program.calls if call.args for name in program.names(call.func))


def _moves(loop: ast.While) -> set[str]:
    """The variables that a loop counts up."""
    return {name for n in inside(loop) if isinstance(n, ast.AugAssign) for name in targets(n.target)}


def _counted(plan: Plan, around: list[tuple[Frame, ast.For | ast.While]], run: Run) -> None:
    """Divide the turns of the loop that makes the steps: the innermost that is not part of a step itself."""
    found = [loop for _, loop in around]
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
