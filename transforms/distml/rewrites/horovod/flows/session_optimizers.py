"""Optimizers of TensorFlow 1, made to average their gradients over the ranks, at the rate of a batch that large.

`DistributedOptimizer` averages in `compute_gradients`, which `minimize` calls. Gradients that come from `tf.gradients` never
pass there, and are averaged where they are made. https://horovod.readthedocs.io/en/stable/tensorflow.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.spelling import module_of
from distml.rewrites.horovod.flows.session_graph import (
    COUNTERS,
    OPTIMIZER,
    Graph,
    counted_up,
    creates,
    graph_of,
    is_optimizer,
    makes_optimizer,
    optimizes,
)
from distml.rewrites.horovod.flows.session_steps import already_divided
from distml.rewrites.horovod.notes import FEWER
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import method_name, receiver_of

_DEFAULTS = {"AdamOptimizer": "0.001", "AdadeltaOptimizer": "0.001"}
_NAMES = {
    "Adam": "AdamOptimizer",
    "SGD": "GradientDescentOptimizer",
    "Adagrad": "AdagradOptimizer",
    "RMSProp": "RMSPropOptimizer",
    "Ftrl": "FtrlOptimizer",
}
"""The names that `optimize_loss` knows, and the classes in `tf.train` they stand for."""

_DECAY = re.compile(
    r"tensorflow\.(train|contrib\.training|contrib\.opt)\.(exponential_decay|natural_exp_decay|inverse_time_decay"
    r"|polynomial_decay|cosine_decay|cosine_decay_restarts|linear_cosine_decay|noisy_linear_cosine_decay)"
)
_PIECES = re.compile(r"tensorflow\.train\.piecewise_constant(_decay)?")
_WRAP = Note(
    "gradients averaged over the ranks",
    "each rank computes the gradients of its own batch; all ranks must take the same step",
    "distributed-optimizer",
)
_RATE = Note(
    "rate times the number of ranks",
    "the batch of all ranks together is that many times as large",
    "scale-rate",
)
_AVERAGE = Note(
    "gradients averaged over the ranks",
    "`tf.gradients` bypasses the optimizer, which would average them",
    "average-gradients",
)


def distribute(plan: Plan, larger: bool = True) -> None:
    """Wrap the optimizers that train, and if the batch is `larger` scale their rates and shorten the schedules of these.

    Raises `Refuse` (HVD209) where nobody can see where gradients come from.
    """
    plan.once(_wrapped)
    if larger:
        plan.once(_scaled)


def _wrapped(plan: Plan) -> None:
    graph = graph_of(plan.program)
    for call in optimizers(graph):
        wrap(plan, call)
    for update in graph.updates:
        if optimizes(update, plan.program):
            _by_name(plan, update)
        elif method_name(update) == "apply_gradients":
            _average(plan, update)


def _scaled(plan: Plan) -> None:
    graph = graph_of(plan.program)
    for call in optimizers(graph):
        scale(plan, call)
    for update in graph.updates:
        if optimizes(update, plan.program):
            _rate_by_name(plan, update)


@remembered
def optimizers(graph: Graph) -> list[ast.Call]:
    """The calls that make the optimizers whose updates the program makes."""
    found: set[ast.Call] = set()
    for update in graph.updates:
        if optimizes(update, graph.program):
            origin = argument(update, 3, "optimizer")
        elif creates(update, graph.program):
            origin = argument(update, 1, "optimizer")
        else:
            origin = receiver_of(update)
        if origin is None:
            continue
        made = [each for each in graph.program.sources(origin) if makes_optimizer(each, graph.program)]
        found |= {each for each in made if isinstance(each, ast.Call) and not _around(each, graph)}
    return graph.program.ordered(found)


def _around(call: ast.Call, graph: Graph) -> bool:
    """Whether an optimizer is made around another one, which is the one that computes gradients."""
    return bool(call.args) and is_optimizer(call.args[0], graph.program)


def wrap(plan: Plan, call: ast.Call) -> None:
    """Make one optimizer average gradients."""
    plan.patch(call).wrap(call, f"{plan.world(call).module}.DistributedOptimizer({{}})", _WRAP)


def scale(plan: Plan, call: ast.Call) -> None:
    """Multiply the rate an optimizer is made with, and divide the steps of its schedule."""
    if plan.options.scale_lr == "none":
        return
    world, patch = plan.world(call), plan.patch(call)
    rate = argument(call, 0, "learning_rate")
    if rate is not None:
        patch.wrap(rate, f"{{}} * {world.size}", _RATE)
        plan.once(shorten)
        if not _scheduled(rate, plan.program) and plan.options.shard != "none" and _follows(rate, plan.program):
            plan.warn(
                "HVD304",
                rate,
                "this learning rate depends on the number of steps, and fewer are needed",
                f"divide the step counts in it by {world.size}",
            )
        return
    names = {name.rpartition(".")[2] for name in plan.program.names(call.func)}
    default = next((_DEFAULTS[name] for name in names if name in _DEFAULTS), None)
    if default is not None and not any(keyword.arg is None for keyword in call.keywords):
        patch.argument(call, f"learning_rate={default} * {world.size}", _RATE)
        return
    plan.warn(
        "HVD304",
        call,
        f"the rate of `{ast.unparse(call)[:60]}` cannot be determined here; it was not scaled",
        f"multiply it by {world.size} where it is set",
    )


def _follows(rate: ast.expr, program: Program) -> bool:
    """Whether a rate is computed from a counter of steps."""
    calls = [each for each in program.sources(rate) if isinstance(each, ast.Call)]
    return any(
        program.names(each.func) & COUNTERS
        or ("tensorflow.Variable" in program.names(each.func) and counted_up(each, program))
        for each in calls
    )


def shorten(plan: Plan) -> None:
    """Divide the numbers of steps in the schedules that the graph counts, of rates and whatever else changes with the steps."""
    for length, counter, code in lengths(plan):
        if counts_steps(counter, plan.program):
            plan.patch(length).wrap(length, code, FEWER)


def lengths(plan: Plan) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """The numbers of steps in schedules, what counts them, and what a number is to become."""
    if plan.options.shard == "none":
        return
    for call in plan.program.calls:
        if plan.program.unit(call).source.location not in plan.editable:
            continue
        names = plan.program.names(call.func)
        length = counter = None
        template = "{{}} // {size}"
        if any(_DECAY.fullmatch(name) for name in names):
            length = argument(call, 2, "decay_steps") or argument(call, 2, "first_decay_steps")
            counter = argument(call, 1, "global_step")
        elif any(_PIECES.fullmatch(name) for name in names):
            length, counter = argument(call, 1, "boundaries"), argument(call, 0, "x")
            template = "[step // {size} for step in {{}}]"
        if length is not None and counter is not None and not already_divided(plan, length):
            yield length, counter, template.format(size=plan.world(length).size)


def _scheduled(rate: ast.expr, program: Program) -> bool:
    """Whether a rate comes from a schedule of the library."""
    calls = [each for each in program.sources(rate) if isinstance(each, ast.Call)]
    names = {name for each in calls for name in program.names(each.func)}
    return any(_DECAY.fullmatch(name) or _PIECES.fullmatch(name) for name in names)


def counts_steps(counter: ast.expr, program: Program) -> bool:
    """Whether a step counter is one that the optimizer counts up, and not what the program feeds."""
    names = {name for node in program.sources(counter) for name in program.names(node)}
    return not any("placeholder()" in name for name in names)


def _average(plan: Plan, update: ast.Call) -> None:
    """Average the gradients that reach an update from `tf.gradients`."""
    program = plan.program
    given = argument(update, 0, "grads_and_vars")
    if given is None:
        return
    found = program.sources(given)
    made = [each for each in found if isinstance(each, ast.Call) and "tensorflow.gradients" in program.callee(each)]
    computing = [*made, *(each for each in found if isinstance(each, ast.Call) and _computes(each))]
    losses = [loss for each in computing if (loss := argument(each, 0, "ys", "loss")) is not None]
    within = {node for loss in losses for node in program.sources(loss)}  # a penalty on gradients is part of a loss
    made = [each for each in made if each not in within]
    for call in made:
        world, patch = plan.world(call), plan.patch(call)
        code = f"[grad if grad is None else {world.module}.allreduce(grad) for grad in {{}}]"
        if not patch.requests.expressions.get(call):
            patch.wrap(call, code, _AVERAGE)
    if not made and not any(_computes(each) for each in found):
        raise Refuse(
            "HVD209",
            update,
            "cannot determine where the gradients that are applied here are computed",
            "compute them with `compute_gradients` or `tf.gradients` in the files that are given",
        )


def _computes(node: ast.AST) -> bool:
    return method_name(node) == "compute_gradients"


def _named(update: ast.Call, program: Program) -> str:
    """How the class is called that `optimize_loss` makes its optimizer of; nothing where it is given one.

    Raises `Refuse` (HVD205) where cannot determine which it is.
    """
    given = argument(update, 3, "optimizer")
    if isinstance(given, ast.Constant) and given.value in _NAMES:
        return f"{module_of(update, program)}.train.{_NAMES[given.value]}"
    if given is not None and any(OPTIMIZER.fullmatch(name + "()") for name in program.names(given)):
        return ast.unparse(given)
    if given is None or not any(makes_optimizer(each, program) for each in program.sources(given)):
        raise Refuse(
            "HVD205",
            update,
            "cannot determine which optimizer is made here",
            "name a tf.train optimizer, or create it outside",
        )
    return ""


def _by_name(plan: Plan, update: ast.Call) -> None:
    """Let `optimize_loss` make an optimizer that averages gradients."""
    name, given = _named(update, plan.program), argument(update, 3, "optimizer")
    if name and given is not None:
        code = f"lambda rate: {plan.world(update).module}.DistributedOptimizer({name}(rate))"
        plan.patch(update).wrap(given, code, _WRAP)


def _rate_by_name(plan: Plan, update: ast.Call) -> None:
    """Multiply the rate that `optimize_loss` is given for the optimizer it makes."""
    rate = argument(update, 2, "learning_rate")
    if rate is not None and plan.options.scale_lr != "none" and _named(update, plan.program):
        plan.patch(rate).wrap(rate, f"{{}} * {plan.world(rate).size}", _RATE)
        plan.once(shorten)
