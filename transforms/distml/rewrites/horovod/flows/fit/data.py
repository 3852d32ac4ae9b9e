"""The data of `fit` and `fit_generator`: divided among the ranks, and as many steps on each of them."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects import tf_data
from distml.rewrites.horovod.aspects.spelling import quotient, spell
from distml.rewrites.horovod.flows.fit import seeds, sequences
from distml.rewrites.horovod.flows.fit.arrays import SHARD, carries_state, divide
from distml.rewrites.horovod.flows.fit.kinds import Kind, kind_of
from distml.rewrites.horovod.flows.fit.models import Given
from distml.rewrites.horovod.notes import DEALT, FEWER
from distml.rewrites.horovod.plan import Plan, Refuse
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import is_false
from distml.training.values import Box, Foreign

_ROWS = re.compile(r"[\w.]+\.shape\[0\]|len\([\w.]+\)")
"""A batch that is as long as the data."""
_GRAPH = re.compile(r"spektral\.(\w+\.)*SingleLoader\(\)")
"""What gives one graph again and again."""
_RATE = ", and the learning rate is not scaled for it"


def is_larger(arguments: Given) -> bool:
    """Whether a step of all ranks together uses more data than one did, as far as the data can be seen."""
    x = arguments.one("x", "generator")
    if x is None:
        return False
    kind = _kind(arguments, x)
    return not (tf_data.is_one(x, arguments.program) if kind == "dataset" else _is_unseen(arguments, kind))


def _is_unseen(arguments: Given, kind: Kind) -> bool:
    """Whether nobody knows what `fit` goes through, nor how far."""
    return kind == "unknown" and arguments.one("steps_per_epoch") is None


def _kind(arguments: Given, x: ast.expr) -> Kind:
    kind = kind_of(x, arguments.one("y") is not None, arguments.program)
    unknown = kind == "unknown" and arguments.one("batch_size") is not None
    return "array" if unknown else kind  # what comes in batches must not be given with a size of batches


def share(plan: Plan, arguments: Given) -> None:
    """Divide what one call trains on among the ranks; HVD302 and HVD303 warn of what could not be divided."""
    x, y = arguments.one("x", "generator"), arguments.one("y")
    if x is None:
        _unshared(plan, arguments.call, f"the data that is trained on cannot be seen here{_RATE}")
        return
    kind = _kind(arguments, x)
    _refuse_whole(arguments, x)
    if plan.options.shard == "none":
        _unshared(plan, x, "every rank trains on all of the data")
    elif kind in ("array", "list", "dict"):
        _arrays(plan, arguments, x, y)
    elif kind == "dataset":
        _dataset(plan, arguments, x)
    else:
        _batches(plan, arguments, x, kind)


def _refuse_whole(arguments: Given, x: ast.expr) -> None:
    """Raise `Refuse` where what is trained on is whole: a graph, whose nodes belong to each other."""
    batch, shuffle = arguments.one("batch_size"), arguments.one("shuffle")
    ordered = is_false(shuffle)
    if any(_GRAPH.match(name) for name in arguments.program.names(x)):
        what, instead = "every batch is the same graph, which cannot be sharded", "train in one process"
        raise Refuse("HVD213", x, what, instead)
    if batch is None or not ordered or not _ROWS.fullmatch(ast.unparse(batch)):
        return
    raise Refuse(
        "HVD213",
        batch,
        "all rows are one batch in a fixed order, like the nodes of a graph: they cannot be sharded",
        "enable `shuffle` in `fit` if the rows are independent",
    )


def _unshared(plan: Plan, node: ast.expr, message: str) -> None:
    plan.warn("HVD302", node, message, "train every rank on its own part of the data, of equal length")


def _arrays(plan: Plan, arguments: Given, x: ast.expr, y: ast.expr | None) -> None:
    call, steps, batch = arguments.call, arguments.one("steps_per_epoch"), arguments.one("batch_size")
    if plan.options.shard == "auto":
        divide(plan, call, x, y, arguments.one("sample_weight"), batch=batch)
        seeds.agree(plan, [each for each in (x, y) if each is not None])
    if steps is not None:
        fewer(plan, steps)
    elif plan.options.shard == "steps":
        size = plan.world(call).size
        count = f"max(1, len({ast.unparse(x)}) // {ast.unparse(batch) if batch is not None else 32} // {size})"
        plan.patch(call).keyword(call, "steps_per_epoch", count, FEWER)
        seeds.differ(plan, call)


def _dataset(plan: Plan, arguments: Given, x: ast.expr) -> None:
    if not tf_data.shard(plan, x):
        _dealt(plan, x)
    seeds.agree(plan, [x], inside=False)
    steps = arguments.one("steps_per_epoch")
    if steps is not None and not tf_data.counts_divided(plan, steps):
        fewer(plan, steps)


def _dealt(plan: Plan, x: ast.expr) -> None:
    """Deal out the batches of a pipeline that is only seen here."""
    if plan.options.shard == "steps":
        _unshared(plan, x, "every rank trains on all of the data, in its own order")
        return
    size, rank = plan.world(x).size, plan.world(x).rank
    name = plan.patch(x).free("batches")
    even = f"{name}.take({name}.cardinality() // {size} * {size}).shard({size}, {rank})"
    plan.patch(x).wrap(x, f"{{}}.apply(lambda {name}: {even})", DEALT)
    plan.warn(
        "HVD302",
        x,
        "cannot determine where this pipeline shuffles; the batches of different ranks may contain the same samples",
        "give its `shuffle` a `seed=`",
    )


def fewer(plan: Plan, steps: ast.expr) -> None:
    """Divide a number of steps by the number of ranks."""
    plan.patch(steps).wrap(steps, quotient(steps, plan.world(steps).size), FEWER)


def _batches(plan: Plan, arguments: Given, x: ast.expr, kind: Kind) -> None:
    """What gives batches: over arrays, over files, by a generator."""
    steps = arguments.one("steps_per_epoch")
    if kind == "flow" and _flows(plan, x):
        if steps is not None and not _of_iterator(plan.program, steps, x):
            fewer(plan, steps)
        return
    if kind in ("generator", "unknown"):
        _generator(plan, arguments, x, kind, steps)
        return
    if kind == "sequence" and sequences.deal(plan, arguments.call, x):
        if steps is not None:
            fewer(plan, steps)
        return
    if steps is not None:
        fewer(plan, steps)
    else:
        _counted(plan, arguments, x)
    seeds.differ(plan, arguments.call, x)
    _unshared(plan, x, "every rank draws its own batches from all of the data, for fewer steps")


def _flows(plan: Plan, x: ast.expr) -> bool:
    """Divide the arrays that an `ImageDataGenerator` goes over."""
    done = False
    for value in plan.program.of(x):
        if isinstance(value, Foreign) and isinstance(call := value.node, ast.Call):
            arrays = argument(call, 0, "x")
            if plan.options.shard != "auto" or arrays is None or call in plan.divided:
                done = done or call in plan.divided
                continue
            plan.divided.add(call)
            divide(plan, call, arrays, argument(call, 1, "y"), argument(call, -1, "sample_weight"))
            seeds.agree(plan, [arrays])
            done = True
    return done


def _of_iterator(program: Program, steps: ast.expr, x: ast.expr) -> bool:
    """Whether steps are counted by the iterator that is divided: `len(flow)`, `flow.n // batch_size`."""
    made = {value.node for value in program.of(x) if isinstance(value, Foreign)}
    return any(
        isinstance(value, Foreign) and value.node in made
        for source in program.sources(steps)
        if isinstance(source, ast.Name)
        for value in program.of(source)
    )


def _generator(plan: Plan, arguments: Given, x: ast.expr, kind: Kind, steps: ast.expr | None) -> None:
    if _is_unseen(arguments, kind):
        _unshared(plan, x, f"cannot identify this data; every rank trains on all of it{_RATE}")
        return
    if kind == "unknown" or plan.options.shard == "steps" or not _makers(plan.program, x):
        _unshared(plan, x, "every rank draws its own batches from all of the data, for fewer steps")
        seeds.differ(plan, arguments.call)
    elif carries_state(plan.program, plan.program.unit(arguments.call)):
        raise Refuse(
            "HVD213",
            x,
            "the model carries its state from batch to batch, and a rank's batches would not be consecutive",
            "yield only batches of this rank's part of the data",
        )
    else:
        drawn = seeds.together(plan, x, _makers(plan.program, x))
        judged = arguments.one("validation_data")
        if judged is not None and {*drawn} & {*seeds.drawn_in(judged, plan.program)}:
            plan.warn(
                "HVD302",
                x,
                "training and validation draw from one generator of random numbers, each in its own thread: the order of the "
                "batches may differ between ranks, which then train on the same samples",
                "let each of them draw from a generator of its own, such as `numpy.random.RandomState(seed)`",
            )
        world = plan.world(x)
        deal = spell(plan, x, "itertools.islice")
        plan.patch(x).wrap(x, f"{deal}({{}}, {world.rank}, None, {world.size})", DEALT)
    if steps is not None:
        fewer(plan, steps)
    else:
        plan.warn(
            "HVD303",
            x,
            "the number of batches is unknown, so ranks may take different numbers of steps",
            "pass `steps_per_epoch=`, divided by the number of ranks",
        )


def _makers(program: Program, x: ast.expr) -> list[ast.AST]:
    """The functions that give a generator."""
    return [value.node for value in program.of(x) if isinstance(value, Box)]


def _counted(plan: Plan, arguments: Given, x: ast.expr) -> None:
    """Give `fit` the number of steps that a sequence of batches leaves for each rank."""
    call, patch = arguments.call, plan.patch(x)
    text = ast.unparse(x)
    if not isinstance(x, ast.Name | ast.Attribute):
        text = patch.free("batches")
        patch.before(plan.program.statement(x), f"{text} = {ast.unparse(x)}", SHARD)
        patch.wrap(x, text, SHARD)
    patch.keyword(call, "steps_per_epoch", f"max(1, len({text}) // {plan.world(x).size})", FEWER)
