"""The data of a training loop divided among the ranks, and its steps with it.

Pipelines of `tf.data` are divided where they are made. Of batches that come otherwise (slices by a counter, generators,
functions that give the next batch) each rank takes every n-th, and all take equally many.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import NoneType, UnionType

from distml.rewrites.horovod.aspects import environments, progress, tf_data
from distml.rewrites.horovod.aspects.dealing import count_turns, deal_rounds, draw_own
from distml.rewrites.horovod.aspects.intervals import counted, ends, read_again
from distml.rewrites.horovod.aspects.pipelines import paths
from distml.rewrites.horovod.flows.fit import seeds
from distml.rewrites.horovod.flows.session_draws import draw_of
from distml.rewrites.horovod.flows.tape.broadcast import is_traced
from distml.rewrites.horovod.flows.tape.turns import Turn, Way, ways
from distml.rewrites.horovod.flows.tape.updates import Update, updates
from distml.rewrites.horovod.notes import FEWER
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.bindings import arguments
from distml.source.nodes import walk
from distml.training.callers import Reach
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import mentions, names_in, nodes_in
from distml.training.values import Callable, Constant

_PART = Note(
    "shard the batches evenly across ranks",
    "ranks that process the same batches compute the same gradient; a rank with more batches blocks indefinitely",
    "shard-data",
)
_OWN = Note(
    "every rank takes a batch of its own",
    "what gives the batches gives the same ones on every rank",
    "shard-data",
)
_GIVES_BATCHES = frozenset({"next_batch", "get_batch", "sample_batch", "next_minibatch"})
"""Methods of libraries that read data sets."""

_SEEDS = frozenset({"numpy.random.seed", "random.seed", "tensorflow.random.set_seed", "tensorflow.set_random_seed"})
_RANDOM = re.compile(r"(numpy\.random|random|tensorflow\.random)\.\w+")
_FEW = 16
"""A literal number of turns up to this is how often something is repeated for each batch."""


def divide(plan: Plan, group: list[Update]) -> list[Update]:
    """Divide the data of these updates, and give those that use all of the data in each turn of a loop.

    Raises `Refuse` (HVD214) where steps follow an environment.
    """
    for update in group:
        environments.refuse(update.call, plan.program)
    if plan.options.shard == "none":
        return []
    seen: set[ast.AST] = set()
    whole: list[Update] = []
    for update in group:
        found = ways(update.call, plan.program)
        for way in found:
            _noise(plan, way)
        reached = [_way(plan, way, seen) for way in found]
        if not any(reached) and any(way.turns for way in found):
            whole.append(update)
    return whole


def is_one(update: Update, program: Program) -> bool:
    """Whether an update only goes through pipelines of a single element, on which each rank trains."""
    found = [
        turn.over for way in ways(update.call, program) for turn in way.turns if turn.kind == "dataset" and turn.over
    ]
    return bool(found) and all(tf_data.is_one(each, program) for each in found)


def _noise(plan: Plan, way: Way) -> None:
    """Say that noise drawn in a step is the same on all ranks, if a seed makes it so."""
    seeding = next(plan.program.calls_of(*_SEEDS), None)
    if seeding is None or not way.turns:
        return
    for node in _region(way.turns[0], way):
        names = plan.program.callee(node)
        if any(_RANDOM.fullmatch(name) for name in names):
            plan.warn(
                "HVD305",
                seeding,
                "with this seed all ranks draw the same noise in their steps",
                f"add the rank (`{plan.world(seeding).rank}`) to the seed, if nothing else has to be the same on all ranks",
            )
            return


def _way(plan: Plan, way: Way, seen: set[ast.AST]) -> bool:
    for turn in way.turns:
        if turn.kind == "dataset":
            assert turn.over is not None
            if turn.node not in seen:
                seen.add(turn.node)
                plan.fewer[turn.node] = frozenset()
                tf_data.shard(plan, turn.over)
                _alike(plan, turn.over)
                progress.of_bars(plan, turn.over)
            return True
    for turn in way.turns:
        if turn.kind == "other":
            if turn.node not in seen:
                seen.add(turn.node)
                plan.fewer[turn.node] = frozenset()
                _every_nth(plan, turn)
            return True
    return _steps(plan, way, seen)


def _steps(plan: Plan, way: Way, seen: set[ast.AST]) -> bool:
    """A loop that counts, and draws or cuts a batch in each turn; of two, the one that other steps are taken in too."""
    heads = _heads(plan.program)
    for number, turn in enumerate(way.turns):
        sliced = turn.kind == "count" and _slices(turn, way)
        repeats = _is_few(turn) and not sliced
        if turn.kind == "things" or repeats or any(each.node in heads for each in way.turns[number + 1 :]):
            continue
        if turn.node in seen:
            return True
        drawn = False if sliced else _draws(plan, turn, way)
        if sliced or drawn:
            seen.add(turn.node)
            if sliced:
                seeds.agree(plan, [each.value for each in nodes_in(turn.node, ast.Subscript)])
            _divide_turns(plan, turn, sliced)
            return True
    return False


@remembered
def _heads(program: Program) -> set[ast.AST]:
    """The innermost loops around the steps of a program that do not just repeat something for each batch."""
    found = (way for update in updates(program) for way in ways(update.call, program))
    counted = ([each for each in way.turns if each.kind in ("count", "while") and not _is_few(each)] for way in found)
    return {turns[0].node for turns in counted if turns}


def _is_few(turn: Turn) -> bool:
    """Whether a loop repeats something a few times for each batch."""
    if turn.kind != "count" or turn.count is None or len(turn.count.args) != 1:
        return False
    stop = turn.count.args[0]
    held = [value.value if isinstance(value, Constant) else None for value in turn.program.of(stop)]
    return bool(held) and all(isinstance(each, int) and each <= _FEW for each in held)


def _region(turn: Turn, way: Way) -> Iterator[ast.AST]:
    """The code of one turn: its body, and the functions between it and the update. Not those that lead to the loop."""
    yield from walk(turn.node)
    owner = turn.program.function(turn.node)
    for function in way.functions:
        if function is owner:
            return
        yield from walk(function)


def _alike(plan: Plan, data: ast.expr) -> None:
    """Let the arrays that a pipeline is made of be split and shuffled in one way on all ranks."""
    made = [path.nodes[0] for path in paths(data, plan.program)]
    arrays = [arg for call in made if isinstance(call, ast.Call) for arg in call.args]
    seeds.agree(plan, arrays, inside=False)


def _slices(turn: Turn, way: Way) -> bool:
    """Whether the counter of a loop says which part of the data a turn uses."""
    name = turn.target
    if not name:
        return False
    derived = {name}
    for node in nodes_in(turn.node, ast.Assign):
        if mentions(node.value, derived) and all(map(_plain, nodes_in(node.value, ast.Call))):
            derived |= {name for target in node.targets for name in names_in(target)}
    read = (each.slice for each in nodes_in(turn.node, ast.Subscript) if isinstance(each.ctx, ast.Load))
    drawn = (each for call in nodes_in(turn.node, ast.Call) if _is_batch(call, turn, way) for each in call.args)
    return any(mentions(each, derived) for each in (*read, *drawn))


def _plain(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("min", "max", "int", "slice", "range", "len")


def _draws(plan: Plan, turn: Turn, way: Way) -> bool:
    """Whether a turn takes a batch from somewhere; each rank then takes its own."""
    program = plan.program
    found = False
    for node in _region(turn, way):
        if not isinstance(node, ast.Call):
            continue
        source = _next(node)
        if source is not None and paths(source, program):
            tf_data.shard(plan, source)
            _alike(plan, source)
            found = True
        elif source is not None:
            draw_own(plan, node, _OWN)
            found = True
        elif _is_batch(node, turn, way):
            if _repeats(node, plan):
                draw_own(plan, node, _OWN)
            found = True
        elif _picks(node, program):
            if _seeded(plan):
                draw_own(plan, node, _OWN)
            found = True
    return found


def _next(call: ast.Call) -> ast.expr | None:
    """The iterator that a call takes the next item of."""
    if isinstance(call.func, ast.Name) and call.func.id == "next" and call.args:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("get_next", "next", "__next__") and not call.args:
        return call.func.value
    return None


def _is_batch(call: ast.Call, turn: Turn, way: Way) -> bool:
    """Whether a call gives the batch of a step: a method of that name of a library's, or a function of the program that
    draws it or cuts it out of data.
    """
    own = [value for value in turn.program.of(call.func) if isinstance(value, Callable)]
    if not own:
        return isinstance(call.func, ast.Attribute) and called(call, turn.program) in _GIVES_BATCHES
    leads = any(value.node in way.functions for value in own)
    return not leads and (_cuts(own) or draw_of(call, turn.program) is not None) and _trained_on(call, turn, way)


def _cuts(functions: list[Callable]) -> bool:
    """Whether functions take a part of something, by their parameters."""
    for node in (each for value in functions for each in walk(value.node)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            own = {each.arg for value in functions for each in arguments(value.node)}
            if mentions(node.slice, own):
                return True
    return False


def _trained_on(call: ast.Call, turn: Turn, way: Way) -> bool:
    """Whether what a call gives goes into the step: into a tape beside it, or into a call that leads to the update."""
    program = turn.program
    steps: list[ast.AST] = []
    for node in _region(turn, way):
        leads = isinstance(node, ast.Call) and any(
            isinstance(value, Callable) and value.node in way.functions for value in program.of(node.func)
        )
        opens = isinstance(node, ast.With) and any(
            "tensorflow.GradientTape()" in program.names(item.context_expr) for item in node.items
        )
        steps += [node] if leads or opens else []
    statement = program.statement(call)
    bound = statement.targets if isinstance(statement, ast.Assign) else []
    given = {each.id for target in bound for each in nodes_in(target, ast.Name)}
    inside = (each for step in steps for each in walk(step))
    return any(each is call or (isinstance(each, ast.Name) and each.id in given) for each in inside)


def _picks(call: ast.Call, program: Program) -> bool:
    """Whether a call draws the numbers of samples at random."""
    return bool(program.names(call.func) & {"numpy.random.randint", "numpy.random.choice", "numpy.random.permutation"})


def _repeats(call: ast.Call, plan: Plan) -> bool:
    """Whether a function gives the same batches on every rank: one that counts, or that draws by a seed."""
    program = plan.program
    functions = program.functions(call.func)
    if not functions or _seeded(plan):
        return _seeded(plan)
    inside = [node for function in functions for node in walk(function)]
    counts = any(isinstance(node, ast.Global | ast.Nonlocal) or _keeps(node) for node in inside)
    random = any(
        _RANDOM.fullmatch(name) for node in inside if isinstance(node, ast.Call) for name in program.names(node.func)
    )
    return counts or not random


def _keeps(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute)


def _seeded(plan: Plan) -> bool:
    return seeds.begun_alike(plan) or any(plan.program.calls_of(*_SEEDS))


def _every_nth(plan: Plan, turn: Turn) -> None:
    """Give a rank every n-th item of a list or generator; items that do not come out even are left out."""
    inner, program = turn.inner, plan.program
    if is_traced(program, program.function(inner)):
        plan.warn(
            "HVD302",
            inner,
            f"cannot determine what `{ast.unparse(inner)[:40]}` is; every rank iterates over all of it",
            "give each rank its part of the data",
        )
        return
    seeds.agree(plan, [inner])
    _deal(plan, turn, inner)
    if isinstance(turn.node, ast.For):
        progress.of_batches(plan, turn.node, inner)


def _deal(plan: Plan, turn: Turn, items: ast.expr) -> None:
    steps = Reach(plan.program, [each.call for each in updates(plan.program)])
    taking = (each for each in getattr(turn.node, "body", ()) if steps.holds(each))
    deal_rounds(plan, turn.node, items, {name for each in taking for name in names_in(each)}, steps, _PART)


def _divide_turns(plan: Plan, turn: Turn, sliced: bool) -> None:
    plan.fewer[turn.node] = frozenset({turn.target} if sliced else ())
    if turn.kind == "while":
        _divide_while(plan, turn)
        return
    count = turn.count
    assert count is not None
    if not sliced:
        _fewer(plan, count)
    elif any(turn.target in names_in(each.test) for each in nodes_in(turn.node, ast.If)) or not _stride(plan, count):
        _deal(plan, turn, count)
    else:
        count_turns(plan, turn.node, count)


def _fewer(plan: Plan, count: ast.Call) -> None:
    """As many turns as each rank has a part in."""
    if not count.args:
        return
    start, stop = (count.args[0], count.args[1]) if len(count.args) > 1 else (None, count.args[0])
    if (
        isinstance(start, ast.Constant)
        and start.value == 1
        and isinstance(stop, ast.BinOp)
        and isinstance(stop.op, ast.Add)
    ):
        if isinstance(stop.right, ast.Constant) and stop.right.value == 1:
            stop = stop.left
    tf_data.divide_steps(plan, stop)


def _stride(plan: Plan, count: ast.Call) -> bool:
    """Let a counter skip what the other ranks take."""
    if not all(_simple(each) for each in count.args) or count.keywords:
        return False
    world, patch = plan.world(count), plan.patch(count)
    if len(count.args) == 1 and not isinstance(count.func, ast.Attribute):
        stop = _operand(count.args[0], ast.Mult | ast.Div | ast.FloorDiv | ast.Mod)
        code = f"{ast.unparse(count.func)}({world.rank}, {stop} // {world.size} * {world.size}, {world.size})"
        patch.wrap(count, code, _PART)
        return True
    if len(count.args) == 3:
        start, stop, step = (_operand(each) for each in count.args)
        first = f"{world.rank} * {step}" if start == "0" else f"{start} + {world.rank} * {step}"
        last = f"{stop} - ({world.size} - 1 - {world.rank}) * {step}"
        patch.wrap(count, f"{ast.unparse(count.func)}({first}, {last}, {step} * {world.size})", _PART)
        return True
    return False


def _operand(node: ast.expr, bare: type | UnionType = NoneType) -> str:
    """An operand as text, in parentheses unless it is one thing or made by one of the operators `bare`."""
    plain = isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
    bound = isinstance(node, ast.BinOp) and isinstance(node.op, bare)
    return ast.unparse(node) if plain or bound else f"({ast.unparse(node)})"


def _simple(node: ast.expr) -> bool:
    """Whether an expression may be written twice."""
    return all(not isinstance(each, ast.Call) or _plain(each) for each in walk(node))


def _divide_while(plan: Plan, turn: Turn) -> None:
    """A loop up to a number of steps."""
    loop = turn.node
    assert isinstance(loop, ast.While)
    numbers = [
        each for number in ends(loop, counted(loop, plan.program), plan.program) for each in read_again(number, loop)
    ]
    for each in dict.fromkeys(numbers):
        inner = isinstance(plan.program.parent(each), ast.BinOp)
        plan.patch(each).wrap(each, ("({{}} // {})" if inner else "{{}} // {}").format(plan.world(each).size), FEWER)
    if not numbers:
        plan.warn(
            "HVD303",
            loop.test,
            "cannot determine the number of steps of this loop; it was not changed",
            "divide the number of steps by the number of ranks",
        )
