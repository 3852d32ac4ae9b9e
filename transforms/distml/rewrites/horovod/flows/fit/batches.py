"""Loops that call `train_on_batch`: one start for all ranks, batches dealt out in turn or drawn by each rank, fewer turns.

Arrays stay whole: what is computed from them, measured on them and judged by them is what it was in one process.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeGuard

from distml.rewrites.horovod.aspects import progress, tf_data
from distml.rewrites.horovod.aspects.dealing import deal, deal_rounds, draw_own
from distml.rewrites.horovod.aspects.origins import computed_from, origins, parameter, wholes
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows import session_steps
from distml.rewrites.horovod.flows.fit import seeds, sums
from distml.rewrites.horovod.flows.fit.arrays import carries_state, divide
from distml.rewrites.horovod.flows.fit.files import Module
from distml.rewrites.horovod.flows.fit.kinds import is_array, kind_of
from distml.rewrites.horovod.flows.fit.models import Given, calls
from distml.rewrites.horovod.flows.session_frames import Frame, frames
from distml.rewrites.horovod.flows.tape.intervals import of_keras
from distml.rewrites.horovod.flows.tape.progress import tell
from distml.rewrites.horovod.notes import DEALT
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.source.bindings import arguments as parameters
from distml.source.nodes import walk
from distml.training.around import Looping, loops_around, owner_of, returned
from distml.training.callers import Reach
from distml.training.callsites import argument_for, called, is_range
from distml.training.counting import BARS
from distml.training.program import Program
from distml.training.syntax import closure, names_in, nodes_in, values_given
from distml.training.values import Box, Constant, Function, Instance

_START = Note(
    "ranks start from the weights of rank 0",
    "ranks that start from different weights stay different: only gradients are averaged",
    "broadcast",
)
_ALIKE = Note(
    "loss averaged over the ranks",
    "a loop that ends by what one rank has seen leaves the others waiting",
    "decide-alike",
)
_SHAPES = frozenset({"input_shape", "input_dim", "batch_input_shape", "inputs", "input_length"})
_SHAPED = re.compile(r"keras\.(\w+\.)*(Input|InputLayer)|keras\.applications\..*|keras\.models\.load_model|.*\.build")


def train(plan: Plan, module: Module) -> None:
    """Ask for all changes that the program's calls of `train_on_batch` need."""
    program = plan.program
    groups: dict[ast.AST, list[Given]] = {}
    for call in calls(program, "train_on_batch"):
        if plan.may_change(call):
            around = [*loops_around(call, program), owner_of(call, program)]
            groups.setdefault(around[-2] if len(around) > 1 else around[-1], []).append(Given(call, program))
    for group in groups.values():
        for arguments in group:
            _start_alike(plan, module, arguments)
            _decide_alike(plan, module, arguments)
        if plan.options.shard != "none":
            _divide(plan, group)
    if plan.options.shard != "none":
        sums.average(plan, [each for group in groups.values() for each in group])
        plan.later.append(partial(tell, plan))


def _start_alike(plan: Plan, module: Module, arguments: Given) -> None:
    """Give all ranks the weights of rank 0: behind `compile`, or behind the first batch where there are none before."""
    program = plan.program
    values = program.of(arguments.model)
    compiled = [each for each in calls(program, "compile") if program.of(Given(each, program).model) & values]
    later = any(isinstance(value, Instance) for value in values) or not compiled or not _shaped(arguments.call, program)
    if later:
        _after_first(plan, module, arguments)
        return
    for call in compiled:
        statement = program.statement(call)
        model = ast.unparse(Given(call, program).model)
        code = f"{model}.set_weights([{module(plan, call)}.broadcast(each, root_rank=0) for each in {model}.get_weights()])"
        plan.patch(statement).after(statement, code, _START)


def _shaped(node: ast.AST, program: Program) -> bool:
    """Whether models in this file are told the shape of their input, so that they have weights before they see any."""
    unit = program.unit(node)
    for call in program.calls:
        if program.unit(call) is unit:
            names = program.names(call.func)
            if any(keyword.arg in _SHAPES for keyword in call.keywords) or any(_SHAPED.fullmatch(n) for n in names):
                return True
    return False


def _decide_alike(plan: Plan, module: Module, arguments: Given) -> None:
    """Average the loss of a batch where a loop may end by it, so that it ends on all ranks alike."""
    used = not isinstance(plan.program.parent(arguments.call), ast.Expr)
    if used and any(_may_end(loop) for loop in loops_around(arguments.call, plan.program)):
        plan.patch(arguments.call).wrap(arguments.call, f"{module(plan, arguments.call)}.allreduce({{}})", _ALIKE)


def _may_end(loop: Looping) -> bool:
    """Whether a loop ends early: by `break` or `return` under a condition."""
    return any(isinstance(end, ast.Break | ast.Return) for node in nodes_in(loop, ast.If) for end in node.body)


def _after_first(plan: Plan, module: Module, arguments: Given) -> None:
    loops = list(loops_around(arguments.call, plan.program))
    statement = plan.program.statement(arguments.call)
    if not loops:
        plan.warn(
            "HVD309",
            arguments.call,
            "the weights this model starts from may differ between the ranks",
            "broadcast the weights of rank 0 with `hvd.broadcast` before the first batch",
        )
        return
    patch, model = plan.patch(statement), ast.unparse(arguments.model)
    name = patch.free("broadcast")
    code = f"{name} = {module(plan, arguments.call)}.callbacks.BroadcastGlobalVariablesCallback(0)\n{name}.set_model({model})"
    patch.before(loops[-1], code, _START)
    patch.after(statement, f"{name}.on_batch_end(0)", _START)


def _divide(plan: Plan, group: list[Given]) -> None:
    program = plan.program
    loops = [list(loops_around(each.call, program)) for each in group]
    shared = [loop for loop in loops[0] if all(loop in other for other in loops)]
    inputs = [node for each in group for name in ("x", "y") if (node := each.one(name)) is not None]
    if not shared:
        _called_in_turns(plan, group[0], inputs)
        return
    inner, outer = shared[0], shared[-1]
    sources = computed_from(inputs, program)
    cuts = [each for source in sources for each in _places(source, outer, program)]
    given = _given_batches(plan, loops)
    if given is None:
        return
    if not given and (counted := _counted(shared, cuts, program)) is not None:
        _deal(plan, counted, outer, inputs, cuts)
        return
    seeds.agree(plan, sources, inside=False)
    if cuts and not given:
        _picked(plan, cuts[0], outer, inner)
    elif not given and not _dealt(plan, inputs, outer):
        _unknown(plan, group[0])
    if not given:
        _turns(plan, inner)
    _draw_apart(plan, outer)


def _draw_apart(plan: Plan, outer: Looping) -> None:
    """Let the turns of a loop draw something else on each rank, unless batches are dealt out that are drawn in turns.

    They begin to in front of the outermost loop that leads to it: a loop within that would draw the same each time.
    """
    program = plan.program
    steps = [*calls(program, "train_on_batch")]
    inputs = [node for call in steps for name in ("x", "y") if (node := Given(call, program).one(name)) is not None]
    data = (loop.iter for call in steps for loop in loops_around(call, program) if isinstance(loop, ast.For))
    made = (call for each in data for call in _makings(each, program))
    if not seeds.drawn([*_taken(inputs, program), *made], program):
        around = [each for each in _leading(outer, program) if plan.may_change(each)]
        seeds.differ(plan, _anchor(around[-1]))


def _leading(loop: Looping, program: Program) -> list[Looping]:
    """A loop and those that lead to it, the outermost last."""
    chain = frames(_anchor(loop), [], program)
    return [loop, *(each for frame in chain for each in loops_around(frame.node, program))]


def _places(source: ast.expr, outer: Looping, program: Program) -> Iterator[ast.expr]:
    """Which samples are taken of many, here in the loop or by a function that is told which."""
    for each in walk(source):
        if _is_cut(each, outer, program):
            yield each.slice
        elif isinstance(each, ast.Call):
            yield from _told(each, program)


def _told(call: ast.Call, program: Program) -> Iterator[ast.expr]:
    """What functions of the program are given that say which samples they give back."""
    for function in program.functions(call.func):
        yield from _arguments(call, function, _indices(returned(function), program), program)


def _indices(given: Iterable[ast.expr], program: Program) -> list[ast.expr]:
    """The expressions that say which items some values are."""
    sources = computed_from(given, program)
    return [part.slice for each in sources for part in nodes_in(each, ast.Subscript) if isinstance(part.ctx, ast.Load)]


def _arguments(call: ast.Call, function: Function, parts: Iterable[ast.expr], program: Program) -> Iterator[ast.expr]:
    """What a call gives to the parameters that some expressions in its function are computed from."""
    read = {each.id for part in computed_from(parts, program) for each in nodes_in(part, ast.Name)}
    given = (argument_for(call, function, each.arg, program) for each in parameters(function) if each.arg in read)
    return (each for each in given if each is not None and not isinstance(each, ast.Constant))


class _Counted(NamedTuple):
    """A loop, and what it counts by: where the samples of a batch are cut out."""

    loop: ast.For
    counts: ast.Call


def _counted(shared: list[Looping], cuts: list[ast.expr], program: Program) -> _Counted | None:
    """The loop whose number says where the samples of a batch are cut out."""
    for loop in (each for each in shared if isinstance(each, ast.For)):
        counts = next((each for each in _ranges(loop, program)), None)
        if counts is not None and any(_moves(cut, loop, program) for cut in cuts):
            return _Counted(loop, counts)
    return None


def _moves(cut: ast.expr, loop: ast.For, program: Program) -> bool:
    """Whether the number of a loop says which samples are cut out."""
    counters = names_in(loop.target)
    return any(names_in(source) & counters for source in computed_from([cut], program))


def _deal(plan: Plan, counted: _Counted, outer: Looping, inputs: list[ast.expr], cuts: list[ast.expr]) -> None:
    """Deal out the turns of a loop, whose batches are in one order on all ranks; what else it draws is of each rank."""
    program, loop = plan.program, counted.loop
    plan.fewer[loop] = frozenset(names_in(loop.target))
    sources = computed_from(inputs, program)
    steps = Reach(program, [each.node for each in plan.loops])
    deal_rounds(plan, loop, counted.counts, {name for each in sources for name in names_in(each)}, steps, DEALT)
    order = [each for each in cuts if _moves(each, loop, program)]
    noise = seeds.noise(outer, sources, computed_from(order, program), program)
    seeds.agree(plan, sources, apart=noise)
    inner, outermost = (leading := _leading(outer, program))[:-1], leading[-1]
    scopes = [*(program.function(each) or each for each in inner), outermost]
    if any(seeds.orders(program, each, computed_from(order, program)) for each in scopes):
        for call in noise:
            draw_own(plan, call, DEALT)
    else:
        seeds.differ(plan, _anchor(outermost))


def _picked(plan: Plan, cut: ast.expr, outer: Looping, inner: Looping) -> None:
    """Batches drawn at random: each rank draws its own. Raises `Refuse` for such as are cut out in any other way."""
    if not seeds.orders(plan.program, outer, computed_from([cut], plan.program)):
        what = (
            "cannot determine which samples an iteration of this loop uses, so iterations cannot be assigned to ranks"
        )
        raise Refuse("HVD213", inner, what, "count the batches with a `for` loop over a range")
    seeds.apart(plan, outer, [cut])


def _called_in_turns(plan: Plan, arguments: Given, inputs: list[ast.expr]) -> None:
    """A step in a function of its own: the loop that calls it is divided, by what it gives the function."""
    program = plan.program
    chain = frames(arguments.call, inputs, program)
    at = next((n for n, each in enumerate(chain) if any(loops_around(each.node, program))), None)
    around = list(loops_around(chain[at].node, program)) if at else []
    callers = program.calling(chain[at - 1].owner) if at else []
    if at is None or any(around[-1] not in loops_around(call, program) for call in callers):
        plan.warn(
            "HVD302",
            arguments.call,
            "cannot determine where these batches come from; every rank may train on the same batches",
            "let every rank draw its own batches",
        )
        return
    _in_turns(plan, arguments, around, chain[: at + 1])


def _in_turns(plan: Plan, arguments: Given, around: list[Looping], chain: list[Frame]) -> None:
    """Divide the loops around a call by what it gives to the function with the step, through the functions between.

    Asked for several steps of one loop, that is divided once.
    """
    program, outer, feeds = plan.program, around[-1], list(chain[-1].feeds)
    told = [each for each in _indices(chain[0].feeds, program) if not seeds.orders(program, chain[0].owner, [each])]
    for inner, caller in pairwise(chain):
        if isinstance(inner.owner, ast.FunctionDef) and isinstance(caller.node, ast.Call):
            told = list(_arguments(caller.node, inner.owner, told, program))
    sources = computed_from(feeds, program)
    cuts = [*told, *(each for source in sources for each in _places(source, outer, program))]
    given, counted = _given_batches(plan, [around]), _counted(around, cuts, program)
    first = outer not in plan.divided
    plan.divided.add(outer)
    if given is None or (counted is not None and not given):
        if counted is not None and first and given is not None:
            _deal(plan, counted, outer, feeds, cuts)
        return
    if not given and not (_dealt(plan, feeds, outer) if first else [*_taken(feeds, program)]):
        _unknown(plan, arguments)
    if first and not given:
        _turns(plan, outer)
    if first:
        _draw_apart(plan, outer)


def _anchor(loop: Looping) -> ast.Call:
    """A call whose statement is the loop, for changes that go in front of it."""
    head = loop.iter if isinstance(loop, ast.For | ast.AsyncFor) else loop.test
    call = next(nodes_in(head, ast.Call), None)
    return call if call is not None else next(nodes_in(loop, ast.Call))


def _unknown(plan: Plan, arguments: Given) -> None:
    plan.warn(
        "HVD302",
        arguments.call,
        "cannot determine where these batches come from; every rank draws its own, the same number each, from all of the data",
        "let every rank draw from a part of the data of its own",
    )


def _is_cut(part: ast.AST, outer: Looping, program: Program) -> TypeGuard[ast.Subscript]:
    """Whether some samples of many are taken here in the loop, not one thing by its name or place."""
    if not isinstance(part, ast.Subscript) or not isinstance(part.value, ast.Name | ast.Attribute):
        return False
    inside = set(walk(outer))
    if part not in inside or any(each.statement in inside for each in origins(part.value, program)):
        return False
    index = part.slice.elts[0] if isinstance(part.slice, ast.Tuple) and part.slice.elts else part.slice
    if isinstance(index, ast.Slice):
        return index.lower is not None or index.upper is not None
    literals = [value for value in program.of(index) if isinstance(value, Constant)]
    return not literals and not isinstance(index, ast.Constant | ast.UnaryOp)


def _given_batches(plan: Plan, loops: list[list[Looping]]) -> bool | None:
    """Whether a loop around the batches goes over a pipeline, which is divided then; None over something nobody knows."""
    for loop in {each for around in loops for each in around}:
        if not isinstance(loop, ast.For) or _ranges(loop, plan.program):
            continue
        if tf_data.shard(plan, loop.iter):
            progress.of_bars(plan, loop.iter)
            plan.fewer[loop] = frozenset()
            return True
        kind = kind_of(loop.iter, False, plan.program)
        if kind == "generator" and _generated(plan, loop.iter):
            return True
        if kind in ("flow", "folder", "sequence", "generator"):
            _unshared_iterator(plan, loop.iter)
            return None
    return False


def _generated(plan: Plan, node: ast.expr) -> bool:
    """Divide the arrays of samples that a generator of the program is given, or deal out the batches that it makes.

    Raises `Refuse` where a model carries what it has seen into the next batch of a series.
    """
    program, made = plan.program, _makings(node, plan.program)
    for call in (each for each in made if each not in plan.divided):
        plan.divided.add(call)
        arrays = [each for each in values_given(call) if is_array(each, program)]
        if arrays and all(_cuts_samples(each, call, arrays, program) for each in program.functions(call.func)):
            divide(plan, call, *arrays)
            progress.of_bar(plan, call)
            continue
        if any(carries_state(program, unit) for unit in program.units.values()):
            what = "this model carries state from batch to batch, and which samples follow each other is not known"
            raise Refuse("HVD213", program.statement(call), what, "give every rank a part of the series of its own")
        deal(plan, call, DEALT)
        seeds.agree(plan, [call])
    return bool(made)


def _makings(use: ast.expr, program: Program) -> list[ast.Call]:
    """The calls by which the program makes the generators that something is, or goes around: here, or for a function that is
    given them.
    """

    def makes(node: ast.expr) -> TypeGuard[ast.Call]:
        made = (value.node for value in program.of(node) if isinstance(value, Box))
        generator = isinstance(node, ast.Call) and any(isinstance(each, ast.FunctionDef) for each in made)
        return generator and called(node, program) not in BARS

    def behind(node: ast.expr) -> list[ast.expr]:
        if makes(node):
            return []
        function = parameter(node, program) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Name) and isinstance(function, ast.FunctionDef) and not origins(node, program):
            given = (argument_for(call, function, node.id, program) for call in program.calling(function))
            return [each for each in given if each is not None]
        return values_given(node) if isinstance(node, ast.Call) else wholes(node, program)

    return [each for each in closure([use], behind) if makes(each)]


def _cuts_samples(maker: Function, call: ast.Call, arrays: list[ast.expr], program: Program) -> bool:
    """Whether a generator only takes rows, `x[i : i + n]`, of what it is given, and all of that is among the `arrays`: in
    `out[k] = x[i]` it puts samples together.
    """
    names = {each.arg for each in parameters(maker)}
    cut = {ast.unparse(each.value) for each in nodes_in(maker, ast.Subscript) if isinstance(each.ctx, ast.Load)}
    if any(argument_for(call, maker, name, program) not in arrays for name in names & cut):
        return False
    filled = (
        node.value
        for node in nodes_in(maker, ast.Assign)
        if any(isinstance(each, ast.Subscript) for each in node.targets)
    )
    parts = (part for value in filled for part in nodes_in(value, ast.Subscript))
    return not any(ast.unparse(part.value) in names for part in parts)


def _dealt(plan: Plan, inputs: list[ast.expr], outer: Looping) -> bool:
    """Deal out the batches that are taken from an iterator by `next`, where the iterator is made, in one order."""
    program, done = plan.program, False
    for held in _taken(inputs, program):
        made = origins(held, program)
        if tf_data.shard(plan, held):
            done = True
        elif len(made) == 1 and made[0].whole and made[0].statement not in {*walk(outer)}:
            world, name = plan.world(held), ast.unparse(held)
            deal = spell(plan, held, "itertools.islice")
            code = f"{name} = {deal}({name}, {world.rank}, None, {world.size})"
            plan.patch(held).after(made[0].statement, code, DEALT)
            seeds.agree(plan, [held])
            done = True
        else:
            done = _generated(plan, held) or done
    return done


def _taken(inputs: list[ast.expr], program: Program) -> Iterator[ast.expr]:
    """The iterators that some values are taken from by `next`."""
    for source in computed_from(inputs, program):
        for call in nodes_in(source, ast.Call):
            if "builtins.next" in program.names(call.func) and call.args:
                yield call.args[0]


def _unshared_iterator(plan: Plan, node: ast.expr) -> None:
    plan.warn(
        "HVD302",
        node,
        "every rank goes through all of these batches",
        "give every rank an equal part of them",
    )


def _ranges(loop: ast.For, program: Program) -> list[ast.Call]:
    """What a loop counts by, with a progress bar or another number beside or not."""
    inner = [each for each in (loop.iter, *getattr(loop.iter, "args", ())[:1]) if isinstance(each, ast.Call)]
    return [each for each in inner if is_range(each, program)]


def _turns(plan: Plan, loop: Looping) -> None:
    """Divide the number of turns of a loop that draws its batches, and the intervals that are counted by them."""
    if session_steps.divide(plan, loop):
        plan.fewer.setdefault(loop, frozenset())
        plan.once(of_keras)
        return
    plan.warn(
        "HVD303",
        plan.program.statement(loop),
        "the number of iterations of this loop is unknown; every rank runs as many as one process would",
        "divide them by the number of ranks",
    )
