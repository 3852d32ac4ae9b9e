"""What a TensorFlow 1 program feeds to its training steps, divided among the ranks.

A step of all ranks together stands for as many steps of one process: in each round of n batches rank r takes the r-th.
Where the batches come from a loop the ranks take turns in it; where a call draws them, it draws for all ranks and each
keeps its own; where all data is fed at once, each rank feeds a part of it. All ranks make equally many steps, and
generators of random numbers stay in step.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.dealing import draw_own
from distml.rewrites.horovod.aspects.drawing import draws as draws_from
from distml.rewrites.horovod.flows import session_pipelines as pipelines
from distml.rewrites.horovod.flows.fit.seeds import ALIKE, SEED, agree, begin, begun_alike, is_seeded
from distml.rewrites.horovod.flows.session_draws import Draw, draws
from distml.rewrites.horovod.flows.session_feeds import (
    Feed,
    averaged,
    carries,
    entries,
    sliceable,
    summed_up,
    taken_from,
)
from distml.rewrites.horovod.flows.session_frames import Reach, frames, reached, targets
from distml.rewrites.horovod.flows.session_graph import Graph, Run, graph_of
from distml.rewrites.horovod.flows.session_steps import divide, few, limit
from distml.rewrites.horovod.flows.session_turns import refuse_one, take_turns, take_while
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import Looping, loops_around, own_nodes
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in, values_given

_SEED = re.compile(r"(numpy\.)?random\.(seed|RandomState|Random|default_rng)")
_ARRANGES = re.compile(
    r"(numpy\.)?random\.(shuffle|permutation|sample)|sklearn\.utils\.(\w+\.)?shuffle|pandas\..*\.sample"
    r"|sklearn\.(model_selection|cross_validation)\.(\w+\.)*train_test_split"
)
_Seeded = tuple[tuple[re.Pattern[str], int], ...]
"""What shuffles anew on each rank unless it is given a seed, and the position at which it is."""
_DATA_SETS: _Seeded = (
    (
        re.compile(
            r"tensorflow\.(examples\.tutorials\.mnist\.input_data|contrib\.learn\.(\w+\.)*mnist)\.read_data_sets"
        ),
        1,
    ),
)
"""Data sets that NumPy's generator shuffles."""
_PIPELINES: _Seeded = (
    (re.compile(r"tensorflow\.data\.Dataset\b.*\.shuffle"), 1),
    (re.compile(r"tensorflow\.(contrib\.data|data\.experimental)\.shuffle_and_repeat"), 2),
)
"""What shuffles in the graph."""
_DRAW = Note(
    "draw one batch per rank and keep this rank's",
    "ranks that draw the same batches compute one gradient many times",
    "shard-batches",
)
_PART = Note(
    "every rank feeds its part of the data",
    "all data is in one batch, and the average of the parts' gradients is the full gradient",
    "shard-batches",
)
_ANY = Note("a placeholder for any number of samples", "each rank feeds a part of the data only", "shard-batches")


def distribute(plan: Plan, graph: Graph, runs: list[Run]) -> bool:
    """Divide what `runs` feed, and their steps. False where the batch of all ranks is no larger than it was.

    Raises `Refuse` (HVD206) where a step depends on whose turn it is, HVD212 where there is no data at all.
    """
    if plan.options.shard == "none":
        return True
    dealt = [run for run in runs if _deal(plan, graph, run, runs)]
    if dealt:
        pipelines.share(plan, graph)
    divided = any([bool(dealt), *[_draw(plan, graph, run) for run in runs if run not in dealt]])
    if divided:
        limit(plan, dict.fromkeys(loop for run in runs for _, _, around in _scopes(graph, run) for loop in around))
    if divided and plan.options.shard == "auto":
        plan.once(_one_order)
        if any(entries(run, graph) for run in runs):
            plan.once(_shuffled_alike)
    return divided


def _scopes(graph: Graph, run: Run) -> Iterator[tuple[Looping | ast.FunctionDef, Reach, list[Looping]]]:
    """The loops around a step and the functions called in them, innermost first, with what is fed and the loops around."""
    program = graph.program
    chain = frames(run.call, [each.value for each in entries(run, graph)], program)
    for number, frame in enumerate(chain):
        inner = list(loops_around(frame.node, program))
        outer = [loop for later in chain[number + 1 :] for loop in loops_around(later.node, program)]
        for place, loop in enumerate(inner):
            yield loop, reached(frame.feeds, loop), [*inner[place:], *outer]
        if isinstance(frame.owner, ast.FunctionDef) and outer:
            yield frame.owner, reached(frame.feeds, frame.owner), outer


def _deal(plan: Plan, graph: Graph, run: Run, runs: list[Run]) -> bool:
    """Let the ranks take turns in a loop over batches; False where what is fed does not come from a loop."""
    for scope, reach, around in _scopes(graph, run):
        if isinstance(scope, ast.For) and targets(scope.target) & reach.names:
            own = targets(scope.target)
            if _moves(scope) & reach.names - own:
                _warn_unseen(plan, run)
            elif plan.options.shard == "auto":
                refuse_one(scope, own, reach, plan.program)
                agree(plan, [*reach.parts, scope.iter])
                take_turns(plan, scope, reach, runs)
                plan.dealt.add(scope)
                plan.fewer[scope] = frozenset()
                _each(plan, list(_beside(scope, reach, graph)), scope)
                if carries(run, graph):
                    _warn_carried(plan, run)
            else:
                _counted(plan, around, run)
            return True
        if draws(reach, scope, graph):
            return False
        if isinstance(scope, ast.While) and (moved := _moves(scope) & reach.names):
            refuse_one(scope, moved, reach, plan.program)
            taken = plan.options.shard == "auto" and take_while(plan, scope, moved, reach)
            plan.fewer |= {scope: frozenset(moved)} if taken else {}
            return taken
    return False


def _draw(plan: Plan, graph: Graph, run: Run) -> bool:
    """Draw for all ranks, or feed parts; False where the batch is no larger than before."""
    feeds = entries(run, graph)
    around = [loop for _, _, loops_around in _scopes(graph, run) for loop in loops_around[:1]]
    if not feeds:
        found = pipelines.divide(plan, graph, run)
        if found:
            _counted(plan, around, run)
        return found
    shared = pipelines.share(plan, graph)
    for scope, reach, outer in _scopes(graph, run):
        drawn = draws(reach, scope, graph)
        if drawn:
            _counted(plan, outer, run, known=_each(plan, drawn, scope))
            if carries(run, graph) or _fed_back(run, reach, plan.program):
                _warn_carried(plan, run)
            return True
        if isinstance(scope, ast.While) and _moves(scope) & reach.names:
            break
    if shared:
        _counted(plan, around, run)
    return shared or not around or _whole(plan, graph, feeds, run)


def _beside(loop: ast.For, reach: Reach, graph: Graph) -> Iterator[Draw]:
    """Random numbers that are drawn beside the batch of a turn, such as the noise of a generator."""
    for draw in draws(reach, loop, graph):
        given = reached(values_given(draw.call), loop)
        if not draw.counts and not given.names & targets(loop.target):
            yield draw


def _fed_back(run: Run, reach: Reach, program: Program) -> bool:
    """Whether what a step gives is fed to a later one: by a variable around a loop, or by an attribute."""
    if not any(run.call in set(walk(part)) for part in reach.parts):
        return False
    statement = program.statement(run.call)
    given = statement.targets if isinstance(statement, ast.Assign) else []
    kept = any(isinstance(each, ast.Attribute) for target in given for each in walk(target))
    return kept or any(loops_around(run.call, program))


def _each(plan: Plan, drawn: list[Draw], scope: ast.AST) -> bool:
    """Draw for all ranks; random numbers only where a seed gives all ranks the same. True where the data ends the loop."""
    for draw in drawn:
        if plan.options.shard == "auto" and (draw.counts or seeded(plan.program) or begun_alike(plan)):
            if len(drawn) == 1 and isinstance(scope, ast.While) and _while_it_lasts(plan, draw.call, scope):
                return True
            draw_own(plan, draw.call, _DRAW)
    return False


def _while_it_lasts(plan: Plan, call: ast.Call, loop: ast.While) -> bool:
    """Draw for all ranks in a loop that asks the data whether there is more: the last round may not be full.

    False where it does not ask, or may not be left where the batch is drawn.
    """
    statement = plan.program.statement(call)
    methods = [each.func for each in nodes_in(loop.test, ast.Call)]
    asked = [each.value for each in methods if isinstance(each, ast.Attribute)]
    if statement not in loop.body or not isinstance(call.func, ast.Attribute):
        return False
    if ast.dump(call.func.value) not in {ast.dump(each) for each in asked}:
        return False
    world, patch = plan.world(call), plan.patch(call)
    name = patch.free("batches")
    drawn = f"{name} = [{ast.unparse(call)} for _ in range({world.size}) if {ast.unparse(loop.test)}]"
    patch.before(statement, f"{drawn}\nif len({name}) < {world.size}:\n    break", _DRAW)
    patch.wrap(call, f"{name}[{world.rank}]", _DRAW)
    return True


def seeded(program: Program) -> bool:
    """Whether the random numbers of Python or NumPy are fixed, by the program or because it arranges its data by them."""
    fixed = any(_SEED.fullmatch(name) for call in program.calls if call.args for name in program.names(call.func))
    return fixed or bool(_arranges(program))


@remembered
def _arranges(program: Program) -> frozenset[str]:
    """The generators, seeded by nobody, by which the program arranges its data anew."""
    calls = (call for call in program.calls if program.matches(call.func, _ARRANGES))
    return frozenset(kind for call in calls for kind in draws_from(call, program) if not is_seeded(program, kind))


def _one_order(plan: Plan) -> None:
    """Have all ranks arrange the data alike: they take turns in it."""
    _with_seed(plan, _DATA_SETS)
    for kind in sorted(_arranges(plan.program) & SEED.keys()):
        begin(plan, plan.program.roots[0].tree.body[0], kind)


def _shuffled_alike(plan: Plan) -> None:
    """Have the graph of each rank shuffle alike what a session reads to be fed: ranks take turns in that, too."""
    _with_seed(plan, _PIPELINES)


def _with_seed(plan: Plan, shuffling: _Seeded) -> None:
    """Give one seed to what shuffles, where it may not have one yet."""
    for call in plan.program.calls:
        at = next((at for paths, at in shuffling if plan.program.matches(call.func, paths)), None)
        if at is not None and len(call.args) <= at and plan.may_change(call):
            if not any(keyword.arg in ("seed", None) for keyword in call.keywords):
                plan.patch(call).keyword(call, "seed", "0", ALIKE)


def _moves(loop: Looping) -> set[str]:
    """The variables that a loop counts up: each turn begins with what the one before has left in them."""
    found = {name: n.lineno for n in own_nodes(loop, ast.AugAssign) for name in targets(n.target)}
    for each in loop.body:
        for target in each.targets if isinstance(each, ast.Assign) else ():
            found = {name: line for name, line in found.items() if name not in targets(target) or line < each.lineno}
    return set(found)


def _counted(plan: Plan, around: list[Looping], run: Run, known: bool = False) -> None:
    """Divide the turns of the loop that makes the steps: the innermost that is not part of a step itself.

    Where it is not `known` that they are fewer already, it is said that nobody can see them.
    """
    found = list(around)
    while len(found) > 1 and few(found[0], plan.program):
        found.pop(0)
    if found and found[0] in plan.dealt:
        return
    if not found:
        return
    if divide(plan, found[0]) or known or _ends_with_data(found[0], plan.program):
        plan.fewer[found[0]] = frozenset()
    else:
        plan.warn(
            "HVD303",
            run.call,
            "cannot determine the number of steps of the outer loop; it was not changed",
            f"divide it by {plan.world(run.call).size}",
        )


def _ends_with_data(loop: Looping, program: Program) -> bool:
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


def _whole(plan: Plan, graph: Graph, feeds: list[Feed], run: Run) -> bool:
    """All data in every step: each rank feeds a part, if placeholders and what is fetched allow it and the loss is an average."""
    data = [each for each in feeds if sliceable(each, plan.program) is not False]
    parts = data and all(sliceable(each, plan.program) for each in data) and averaged(graph) and summed_up(run, graph)
    if plan.options.shard == "auto" and parts:
        for each in data:
            world = plan.world(each.value)
            plan.patch(each.value).wrap(each.value, f"{{}}[{world.rank}::{world.size}]", _PART)
            shape = taken_from(each, plan.program)
            if shape is not None:
                plan.patch(shape).wrap(shape, "(None, *{}[1:])", _ANY)
        return False
    _warn_unseen(plan, run)
    return False


def _warn_unseen(plan: Plan, run: Run) -> None:
    world = plan.world(run.call)
    around = next(loops_around(run.call, plan.program), None)
    fed = reached([each.value for each in entries(run, graph_of(plan.program))], around) if around is not None else None
    called = fed is not None and any(isinstance(each, ast.Call) for part in fed.parts for each in walk(part))
    plan.warn(
        "HVD302",
        run.call,
        "cannot determine whether ranks feed different data: it is not divided, and neither are the steps"
        if called
        else "every rank feeds the same data in every step, so all ranks compute the same gradient",
        f"feed each rank its part, such as `x[{world.rank}::{world.size}]`",
    )


def _warn_carried(plan: Plan, run: Run) -> None:
    plan.warn(
        "HVD302",
        run.call,
        "a step's result is fed to the next step, and a rank's batches are not consecutive",
        "give each rank its own part of the data and take all its batches from it",
    )
