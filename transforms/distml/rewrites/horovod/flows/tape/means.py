"""Sums and metrics of a pass over divided data become means over all ranks, behind the pass and where they are told."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial

from distml.rewrites.horovod.aspects import together
from distml.rewrites.horovod.aspects.filling import assigned
from distml.rewrites.horovod.aspects.means import Means
from distml.rewrites.horovod.aspects.origins import parameter
from distml.rewrites.horovod.aspects.scalars import scalar
from distml.rewrites.horovod.aspects.setup import helper
from distml.rewrites.horovod.aspects.spelling import horovod_of, spell
from distml.rewrites.horovod.aspects.totals import EqualShares
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.tape.broadcast import is_traced
from distml.rewrites.horovod.flows.tape.turns import ways
from distml.rewrites.horovod.flows.tape.updates import Update
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import own_nodes
from distml.training.callers import run_by
from distml.training.callsites import argument_for, called
from distml.training.program import Program
from distml.training.syntax import nodes_in

_MEAN = '''

def {name}(value):
    """The mean over all ranks, of a number, a tensor or an array, or of each number in a list."""
    kept = [float(each) for each in value] if isinstance(value, list) else value
    total = {dist}.allreduce({tf}.cast(kept, {tf}.float64))
    if isinstance(value, list):
        means = total.numpy().tolist()
        return [{tf}.cast(mean, each.dtype) if {tf}.is_tensor(each) else mean for each, mean in zip(value, means)]
    return {tf}.cast(total, value.dtype) if {tf}.is_tensor(value) and value.dtype.is_floating else total.numpy()
'''
_SUM = '''

def {name}(value):
    """The sum over all ranks of a number, a tensor or an array."""
    total = {dist}.allreduce({tf}.cast(value, {tf}.float64), op={dist}.Sum)
    if {tf}.is_tensor(value):
        return {tf}.cast(total, value.dtype)
    return type(value)(total.numpy()) if isinstance(value, (int, float)) else total.numpy()
'''
_JOINED = """\
if {lib}.is_tensor(value):
        return {lib}.concat(parts, 0)
    if hasattr(value, "dtype"):
        return {lib}.concat(parts, 0).numpy()"""
_METRIC = Note(
    "metric of all ranks",
    "each rank measures its own part of the data; what a metric adds up is averaged, so that its result is that of all",
    "average-metric",
)


def average(plan: Plan, group: list[Update]) -> None:
    """Behind the loops that deal out batches to these updates."""
    program = plan.program
    loops = {way.turns[0].node for update in group for way in ways(update.call, program) if way.turns}
    loops = {each for each in loops if not is_traced(program, program.function(each))}
    losses = {ast.unparse(each) for update in group for each in _losses(update, program)}
    spelling, uniform = _Spelling(plan), Uniform(program, plan.dealt)
    numbers = losses.union(*(_given(loop, losses, program) for loop in loops))
    means = Means(plan, uniform, numbers, spelling)
    means.tell_sums(EqualShares(plan))
    means.average(loops)
    of_metrics(plan, loops, means)


def of_metrics(plan: Plan, loops: Iterable[ast.AST], means: Means) -> None:
    """What metrics add up in loops over divided data becomes the mean over all ranks."""
    program = plan.program
    for loop in loops:
        metrics = [*dict.fromkeys(_metrics(loop, program))] if isinstance(loop, ast.For) else []
        for metric in metrics:
            assert isinstance(loop, ast.For)
            module, each = horovod_of(plan, loop), plan.patch(loop).free("variable")
            code = f"for {each} in {metric}.variables:\n    {each}.assign({module}.allreduce({each}))"
            means.between(loop, metric, partial(str, code), _METRIC)
            plan.patch(loop).after(loop, code, _METRIC)


def _given(loop: ast.AST, losses: set[str], program: Program) -> Iterator[str]:
    """The variables of a loop that get single numbers of a batch, itself or of a step."""
    for node in own_nodes(loop):
        for target, value in assigned(node.targets[0], node.value) if isinstance(node, ast.Assign) else ():
            for name, made in items_given(target, value, program):
                if all(ast.unparse(each) in losses or scalar(each, program) for each in made):
                    yield name


def items_given(target: ast.expr, value: ast.expr, program: Program) -> Iterator[tuple[str, list[ast.expr]]]:
    """Variables, and the expressions that say what they get, in functions of the program where these are called."""
    functions = run_by(value, program)
    made = [each.value for one in functions for each in own_nodes(one, ast.Return) if each.value]
    values: list[ast.expr] = made if functions else [value]
    if isinstance(target, ast.Name) and values:
        yield target.id, values
    rows = [each.elts for each in values if isinstance(each, ast.Tuple | ast.List)]
    if isinstance(target, ast.Tuple | ast.List) and rows and len(rows) == len(values):
        for number, part in enumerate(target.elts):
            if isinstance(part, ast.Name) and all(len(row) == len(target.elts) for row in rows):
                yield part.id, [row[number] for row in rows]


def _losses(update: Update, program: Program) -> Iterator[ast.expr]:
    """What gradients of a function's tapes are taken of."""
    for node in nodes_in(program.function(update.call) or program.unit(update.call).tree, ast.Call):
        if called(node, program) == "gradient" and node.args:
            yield node.args[0]


def _metrics(loop: ast.For, program: Program) -> Iterator[str]:
    """The metrics that a loop updates, itself or in what it calls, as they are called where it stands."""
    led: dict[ast.AST, ast.Call] = {}
    waiting: list[ast.AST] = [*loop.body]
    while waiting:
        for node in nodes_in(waiting.pop(), ast.Call):
            held = node.func
            if isinstance(held, ast.Attribute) and held.attr == "update_state":
                held = held.value
            if any(each.startswith("keras.metrics.") and each.endswith("()") for each in program.names(held)):
                here = _here(held, loop, led, program)
                if here is not None and not _made_in(here, loop):
                    yield ast.unparse(here)
            for function in run_by(node, program):
                if function not in led:
                    led[function] = node
                    waiting.append(function)


def _here(metric: ast.expr, loop: ast.For, led: dict[ast.AST, ast.Call], program: Program) -> ast.expr | None:
    """A metric as it is called where a loop stands, or as the calls of the functions that update it are given it."""
    if _same_here(metric, loop, program):
        return metric
    function = parameter(metric, program) if isinstance(metric, ast.Name) else None
    if function is None or function not in led or not isinstance(metric, ast.Name):
        return None
    given = argument_for(led[function], function, metric.id, program)
    return _here(given, loop, led, program) if given is not None else None


def _made_in(metric: ast.expr, loop: ast.For) -> bool:
    """Whether a loop makes the metric, or what holds it, anew."""
    stores = (each for each in nodes_in(loop, ast.Name) if isinstance(each.ctx, ast.Store))
    return any(each.id == ast.unparse(metric).partition(".")[0] for each in stores)


def _same_here(metric: ast.expr, loop: ast.For, program: Program) -> bool:
    """Whether a metric is called the same at a loop: by a variable of its scope, or by an attribute in methods of one class."""
    root = metric
    while isinstance(root, ast.Attribute | ast.Subscript):
        if isinstance(root, ast.Subscript) and not isinstance(root.slice, ast.Constant):
            return False
        root = root.value
    if isinstance(root, ast.Name) and _bound(metric, root.id, program) is _bound(loop, root.id, program):
        return True
    if isinstance(metric, ast.Name):
        return False
    one, other = program.function(metric), program.function(loop)
    if one is other:
        return True
    return one is not None and other is not None and program.parent(one) is program.parent(other)


def _bound(node: ast.AST, name: str, program: Program) -> ast.AST | None:
    """The scope to which a name belongs where a node stands."""
    lexical = program.unit(node).lexical
    return lexical.owner_at(name, node)


class _Spelling(together.Spelling):
    """The functions that each file needs, for tensors too."""

    tensors = together.Tensors("each.numpy()", "each.numpy()", "{lib}.cast(found, each.dtype)", _JOINED)

    def library(self, node: ast.AST) -> str:
        """What a file calls TensorFlow."""
        return spell(self.plan, node, "tensorflow", at_start=True)

    def mean_of(self, node: ast.AST, code: str) -> str:
        """The mean over all ranks of numbers, given as text."""
        return f"{helper(self.plan, node, 'mean_of_ranks', _MEAN, tf=self.library(node))}({code})"

    def sum_of(self, node: ast.AST, code: str) -> str:
        """The sum over all ranks of a number, given as text."""
        return f"{helper(self.plan, node, 'sum_of_ranks', _SUM, tf=self.library(node))}({code})"
