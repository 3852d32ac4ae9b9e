"""PyTorch: loops in which an optimizer of `torch.optim` steps.

One pass over the program says which optimizers step where (`study`) and which data the loops go through (`loops`). The
rest asks for changes, each in a module of its own: gradients, optimizers, data, decisions and devices.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.means import Means
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.pytorch.accelerated import Accelerated
from distml.rewrites.horovod.flows.pytorch.arranged import Arranged
from distml.rewrites.horovod.flows.pytorch.batch_state import BatchState
from distml.rewrites.horovod.flows.pytorch.copies import Copies
from distml.rewrites.horovod.flows.pytorch.decisions import Decisions
from distml.rewrites.horovod.flows.pytorch.devices import Devices
from distml.rewrites.horovod.flows.pytorch.folders import Folders
from distml.rewrites.horovod.flows.pytorch.gradients import Gradients
from distml.rewrites.horovod.flows.pytorch.intervals import Intervals
from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.flows.pytorch.loops import Loops
from distml.rewrites.horovod.flows.pytorch.optimizers import Optimizers
from distml.rewrites.horovod.flows.pytorch.parallel import Parallel, only_place
from distml.rewrites.horovod.flows.pytorch.prepared import Prepared
from distml.rewrites.horovod.flows.pytorch.progress import Progress
from distml.rewrites.horovod.flows.pytorch.refusals import manual_updates, refuse
from distml.rewrites.horovod.flows.pytorch.schedules import Schedules
from distml.rewrites.horovod.flows.pytorch.seeds import Seeds
from distml.rewrites.horovod.flows.pytorch.shares import Shares
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.statistics import Statistics
from distml.rewrites.horovod.flows.pytorch.study import Step, Study
from distml.rewrites.horovod.flows.pytorch.tensors import Tensors
from distml.rewrites.horovod.plan import Loop, Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS
from distml.training.program import Program
from distml.training.syntax import nodes_in


class Torch:
    """The flow of PyTorch loops, for Horovod and torch.distributed."""

    def find(self, program: Program) -> list[Loop]:
        """Loops around steps of optimizers, and those that change weights by hand after `backward`."""
        study = Study(program)
        found: dict[ast.AST, Loop] = {}
        for step in study.steps:
            anchor = study.loop(step.call) or program.function(step.call) or program.statement(step.call)
            makers: tuple[ast.AST, ...] = tuple(step.makers)
            if anchor not in found:
                found[anchor] = Loop("HVD106", anchor, "PyTorch loop", "torch", makers)
        if not found and study.backwards:
            for statement in list(manual_updates(study))[:1]:
                found[statement] = Loop("HVD106", study.loop(statement) or statement, "PyTorch loop", "torch")
            for call in list(study.unknown_steps())[:1] if not found else ():
                found[call] = Loop("HVD106", study.loop(call) or call, "PyTorch loop", "torch")
        return list(found.values())

    def plan(self, loop: Loop, plan: Plan) -> None:
        """Plan the whole program with its first loop: optimizers, models and data are shared among loops."""
        if next(each for each in plan.loops if each.start == "torch") is not loop:
            return
        study = Study(plan.program)
        state = BatchState(study)
        refuse(study, state)
        _plan(study, state, plan)


def _plan(study: Study, state: BatchState, plan: Plan) -> None:
    for unit in plan.program.roots:
        if unit.source.location in plan.editable and study.stepping.holds_any(unit.tree.body):
            plan.world(unit.tree)
    spelling, loops = Spelling(plan), Loops(study)
    optimizers, gradients = Optimizers(study, plan, spelling), Gradients(study, plan, spelling)
    tensors = Tensors(study, plan, loops)
    loaders = Loaders(study, plan, loops)
    shard = plan.options.shard
    sharded = {"auto": loaders.shard, "steps": loaders.shorten, "none": set[ast.AST]}[shard]()
    study.shortened |= {each for each in sharded if isinstance(each, LOOPS)}
    makers = set(_on_divided_data(study, plan, loops, tensors, sharded))
    if shard == "auto" and not study.environment:
        _divide_turns(study, loops, tensors, loaders, [step for step in study.steps if step.makers & makers], sharded)
    optimizers.scale(frozenset(makers))
    optimizers.resume()
    if shard != "none":
        Schedules(study, plan, loaders).shorten(optimizers)
    seeds = Seeds(study, plan, spelling)
    seeds.alike(loaders.together | tensors.together, Copies(study).any())
    Prepared(study, plan, spelling, loaders.orders).agree()
    Folders(study, plan, spelling).agree()
    simple, place = gradients.simple(), only_place(optimizers.places)
    accelerated = Accelerated(study, plan, spelling, optimizers, gradients)
    whole, single = optimizers.of_one_model(), Parallel(study, plan, accelerated)
    if shard != "none":
        Arranged(study, plan, spelling, loaders.orders).agree()
    parallel = plan.options.wraps_models and whole and place is not None and single.wrap(place)
    if not parallel:
        gradients.average(simple and not plan.options.wraps_models, Decisions(study, plan, spelling).own)
        optimizers.broadcast()
    if optimizers.places:
        seeds.by_rank(optimizers.places, shard == "steps")
    if shard != "none":
        state.agree(plan, spelling)
    statistics = Statistics(study, plan, spelling, optimizers)
    if not parallel or single.several:
        statistics.alike(sharded, state.keeps_statistics())
    statistics.estimate([loop for loop, _ in loaders.judging()], loaders)
    _report(study, plan, spelling, loaders, sharded)
    loaders.samplers.read(loaders.sampled)
    decisions = Decisions(study, plan, spelling)
    decisions.agree()
    decisions.ask()
    decisions.name_caught()
    decisions.name_parts()
    Devices(study, plan).own()


def _report(study: Study, plan: Plan, spelling: Spelling, loaders: Loaders, sharded: set[ast.AST]) -> None:
    """Have what loops report be of all the data, and come as often as it did."""
    auto, judging = plan.options.shard == "auto", dict(loaders.judging())
    losses = {ast.unparse(each.func.value) for each in study.backwards if isinstance(each.func, ast.Attribute)}
    drawing = {loop for each in sharded if isinstance(each, ast.Call) and (loop := study.loop(each)) is not None}
    passes = study.shortened | study.undivided | drawing | {*judging} if auto else sharded
    same = study.agreed | {node for loop in passes for node in _whole_passes(study, loaders, loop, passes)}
    uniform = Uniform(study.program, study.dealt | study.uneven, study.environment, same)
    means = Means(plan, uniform, losses, spelling, study.phases)
    if auto:
        Progress(plan, loaders, sharded).tell()
        intervals = Intervals(plan, loaders, sharded)
        intervals.shorten()
        intervals.keep_pace()
        intervals.count_samples(uniform)
        means.tell_sums(Shares(plan, loaders, sharded | {*judging}))
    means.average(passes, {each for each, whole in judging.items() if not whole})
    means.average_each([each for each in sharded | {*judging} if isinstance(each, ast.comprehension)])


def _whole_passes(study: Study, loaders: Loaders, loop: ast.AST, passes: set[ast.AST]) -> Iterator[ast.AST]:
    """What passes do in a loop that go through all of a loader: all ranks see the same data there, with the same weights."""
    for inner in nodes_in(loop, ast.For):
        if inner in passes or study.stepping.holds(inner):
            continue
        made = [
            loaders.loops.makers(leaf) for leaf in loaders.loops.leaves(inner.iter) if loaders.loops.is_loader(leaf)
        ]
        if made and all(makers and makers.isdisjoint(loaders.sampled) for makers in made):
            yield from walk(inner)


def _divide_turns(
    study: Study, loops: Loops, tensors: Tensors, loaders: Loaders, steps: list[Step], sharded: set[ast.AST]
) -> None:
    """Ask for fewer turns of the loops that take one of the steps in each turn, of batches drawn in it."""
    draws = [use.drawn for use in loops.training if use.drawn in sharded and isinstance(use.drawn, ast.Call)]
    around = {loop for each in draws for loop in _loops_around(study, each, 4)}
    ways = [way for step in steps for way in _ways(study, step.call, 4) if way and sharded.isdisjoint(way)]
    picked = {way[0] for way in ways if tensors.picks(way[0])}
    left = [way for way in ways if len(way) > 1 and way[0] not in study.shortened]
    picked |= {way[0] for way in left if tensors.picks(way[1])}  # an order of samples is drawn in front of it
    loaders.counts.endless({way[0] for way in ways if way[0] in around} | picked, loaders.counted)


def _on_divided_data(
    study: Study, plan: Plan, loops: Loops, tensors: Tensors, sharded: set[ast.AST]
) -> Iterator[ast.Call]:
    """The calls that make the optimizers of steps whose data is divided among the ranks; HVD302 for those of others."""
    for step in study.steps:
        if _divided(study, loops, tensors, step.call, sharded):
            yield from step.makers
        else:
            plan.warn(
                "HVD302",
                study.loop(step.call) or plan.program.statement(step.call),
                "cannot identify the data of this loop: every rank processes all of it, and the learning rate was not scaled",
                "shard the data, and multiply the learning rate by the number of ranks",
            )


def _divided(study: Study, loops: Loops, tensors: Tensors, call: ast.Call, sharded: set[ast.AST]) -> bool:
    """Whether the data that leads to a step is divided among the ranks, or none is to be."""
    shard, around = tensors.plan.options.shard, _loops_around(study, call, 4)
    if shard == "none" or any(each in sharded for each in around):
        return True
    drawn = (use.drawn for use in loops.training if use.drawn in sharded)
    if any(each in around for loop in drawn for each in _loops_around(study, loop, 4)):
        return True
    ways = _ways(study, call, 4) if shard == "auto" else []
    divided = [any(tensors.shard(each) for each in way[:2]) for way in ways]  # of one function that trains two models
    return any(divided)


def _ways(study: Study, node: ast.AST, depth: int) -> list[list[ast.AST]]:
    """The loops around a node, innermost first, for each way in which it can be come to."""
    own: list[ast.AST] = [each for each in study.program.ancestors(node) if isinstance(each, LOOPS)]
    calls = study.leading(node) if depth else ()
    return [own + way for call in calls for way in _ways(study, call, depth - 1)] or [own]


def _loops_around(study: Study, node: ast.AST, depth: int) -> list[ast.AST]:
    """The loops around a node, innermost first, and those around the calls of its function."""
    found: list[ast.AST] = []
    for above in study.program.ancestors(node):
        found += [above] if isinstance(above, LOOPS) else getattr(above, "generators", [])
    for call in study.leading(node) if depth else ():
        found += [each for each in _loops_around(study, call, depth - 1) if each not in found]
    return found


FLOW = Torch()
