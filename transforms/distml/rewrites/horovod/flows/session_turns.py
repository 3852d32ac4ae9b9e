"""Loops over batches, of which each rank takes every n-th turn.

Ranks take the turns of a round together, and rounds that are not full are left out: everybody makes equally many steps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.aspects import progress
from distml.rewrites.horovod.aspects.dealing import count_turns, deal_rounds
from distml.rewrites.horovod.aspects.origins import wholes
from distml.rewrites.horovod.flows.session_frames import Reach, reads, targets
from distml.rewrites.horovod.flows.session_graph import Run
from distml.rewrites.horovod.flows.session_steps import divide_number, divide_stop, range_of, relate, resumed, stop_of
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.training.around import Looping, own_nodes
from distml.training.callers import Reach as Stepping
from distml.training.callsites import argument, called
from distml.training.counting import BARS
from distml.training.program import Program
from distml.training.syntax import is_literal, nodes_in

_TURNS = Note(
    "shard the batches evenly across ranks",
    "ranks that process the same batches compute the same gradient; a rank with more batches blocks indefinitely",
    "shard-batches",
)


def take_turns(plan: Plan, loop: ast.For, reach: Reach, runs: list[Run]) -> None:
    """Give each rank its turns of a loop whose variables say which batch is fed."""
    call = range_of(loop, plan.program)
    if call is not None and call is loop.iter and isinstance(loop.target, ast.Name) and len(call.args) < 3:
        if _counted(plan, loop, call, reach):
            return
    _grouped(plan, loop, reach, runs)


def _counted(plan: Plan, loop: ast.For, call: ast.Call, reach: Reach) -> bool:
    """A loop over the numbers of batches: the number keeps its meaning if only the batch depends on it."""
    assert isinstance(loop.target, ast.Name)
    stop = stop_of(loop, plan.program)
    start = call.args[0] if len(call.args) == 2 else None
    plain = isinstance(start, ast.Constant | ast.Name | ast.Attribute | None)
    if stop is None or not (plain or (start is not None and resumed(start, plan.program))):
        return False
    inner = _uses(loop.target.id, reach, loop)
    known = plan.turns
    if loop not in known:
        alone = start is None and len(inner) == len(list(_loads(loop.target.id, loop)))
        known[loop] = "" if alone else plan.patch(loop).free(f"own_{loop.target.id}")
        if not alone:
            _renumber(plan, loop, stop, known[loop], start)
        else:
            if _stride(plan, call, stop) is stop:
                relate(plan, loop, stop)
            count_turns(plan, loop, call)
    plan.dealt.update(inner)
    for use in inner if known[loop] else ():
        plan.patch(use).wrap(use, known[loop], _TURNS)
    return True


def take_while(plan: Plan, loop: ast.While, counters: set[str], reach: Reach) -> bool:
    """Give each rank its turns of a `while` loop that counts up to where the batch begins; False where it does not.

    The loop goes on for a round of all ranks at a time, as long as the last rank finds a batch.
    """
    test = loop.test
    left = _counter(test.left, counters) if isinstance(test, ast.Compare) else None
    if not isinstance(test, ast.Compare) or left is None:
        return False
    name = left.id
    counts = [n for n in own_nodes(loop, ast.AugAssign) if targets(n.target) == {name}]
    if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Lt | ast.LtE) or len(counts) != 1:
        return False
    known = plan.turns
    if loop not in known:
        world, patch, by = plan.world(loop), plan.patch(loop), counts[0].value
        step = ast.unparse(by) if isinstance(by, ast.Name | ast.Attribute | ast.Constant) else f"({ast.unparse(by)})"
        known[loop] = patch.free(f"own_{name}")
        one = step == "1"
        last = f"{{}} + {world.size} - 1" if one else f"{{}} + ({world.size} - 1) * {step}"
        patch.wrap(left, last if left is test.left else f"({last})", _TURNS)
        patch.wrap(by, world.size if one else f"{{}} * {world.size}", _TURNS)
        patch.begin(loop, f"{known[loop]} = {name} + {world.rank}{'' if one else f' * {step}'}", _TURNS)
    for use in _uses(name, reach, loop):
        if use is not left:
            plan.dealt.add(use)
            plan.patch(use).wrap(use, known[loop], _TURNS)
    return True


def refuse_one(loop: Looping, counters: set[str], reach: Reach, program: Program) -> None:
    """Raises `Refuse` (HVD213) where the loop cuts its batches from arrays of one sample: no rank but one would get any."""
    cut = [node for part in reach.parts for node in nodes_in(part, ast.Subscript)]
    for node in cut:
        if isinstance(node.value, ast.Name) and reads(node.slice) & counters:
            given = wholes(node.value, program)
            if given and all(_one(each, program) for each in given):
                raise Refuse(
                    "HVD213",
                    loop,
                    f"`{node.value.id}` holds one sample with an added batch axis: there is no data to shard",
                    "run several such programs, each in its own process",
                )


def _one(value: ast.expr, program: Program) -> bool:
    """Whether an expression puts an axis in front of an array: `x[None]`, `x[np.newaxis, ...]`, `np.expand_dims(x, 0)`."""
    if isinstance(value, ast.Subscript):
        first = value.slice.elts[0] if isinstance(value.slice, ast.Tuple) and value.slice.elts else value.slice
        none = is_literal(first, None)
        return none or "numpy.newaxis" in program.names(first)
    if isinstance(value, ast.Call) and "numpy.expand_dims" in program.callee(value):
        axis = argument(value, 1, "axis")
        return isinstance(axis, ast.Constant) and axis.value == 0
    return False


def _counter(tested: ast.expr, counters: set[str]) -> ast.Name | None:
    """The counter in what a loop tests: itself, or times something, such as the size of a batch."""
    if isinstance(tested, ast.BinOp) and isinstance(tested.op, ast.Mult):
        sides = [each for each in (tested.left, tested.right) if isinstance(each, ast.Name) and each.id in counters]
        return sides[0] if len(sides) == 1 else None
    return tested if isinstance(tested, ast.Name) and tested.id in counters else None


def _stride(plan: Plan, call: ast.Call, stop: ast.expr) -> ast.expr | None:
    """Let the loop count in steps of the number of ranks; the place as in `divide_number`."""
    world, patch = plan.world(call), plan.patch(call)
    place = divide_number(plan, stop)
    text = (
        ast.unparse(stop)
        if isinstance(stop, ast.Name | ast.Attribute | ast.Constant | ast.Call)
        else f"({ast.unparse(stop)})"
    )
    whole = f"{text} // {world.size} * {world.size}" if place is stop else f"{text} * {world.size}"
    patch.wrap(call, f"{ast.unparse(call.func)}({world.rank}, {whole}, {world.size})", _TURNS)
    return place


def _renumber(plan: Plan, loop: ast.For, stop: ast.expr, own: str, start: ast.expr | None) -> None:
    """Let the loop make fewer turns, and compute the number of the rank's own batch in each."""
    assert isinstance(loop.target, ast.Name)
    world, name = plan.world(loop), loop.target.id
    first = ast.unparse(start) if start is not None and not resumed(start, plan.program) else "0"
    divide_stop(plan, loop, stop)
    number = f"{name} * {world.size} + {world.rank}"
    if first != "0":
        number = f"{first} + ({name} - {first}) * {world.size} + {world.rank}"
    plan.patch(loop).begin(loop, f"{own} = {number}", _TURNS)


def _uses(name: str, reach: Reach, loop: Looping) -> list[ast.Name]:
    """Where what is fed reads the number of the turn, inside the loop."""
    within = set(own_nodes(loop))
    found = [
        node
        for part in reach.parts
        for node in nodes_in(part, ast.Name)
        if node.id == name and isinstance(node.ctx, ast.Load) and node in within
    ]
    return list(dict.fromkeys(found))


def _loads(name: str, loop: ast.For) -> Iterator[ast.Name]:
    for node in nodes_in(loop, ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _grouped(plan: Plan, loop: ast.For, reach: Reach, runs: list[Run]) -> None:
    """Go through anything else in rounds: `enumerate` counts the turns of the rank, unless its number finds the batch."""
    data, target = loop.iter, loop.target
    while isinstance(data, ast.Call) and data.args and called(data, plan.program) in BARS | {"enumerate"}:
        if ast.unparse(data.func) == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            if targets(target.elts[0]) & reach.names:
                break
            target = target.elts[1]
        data = data.args[0]
    if not plan.patch(data).requests.expressions.get(data):
        stepping = Stepping(plan.program, [run.call for run in runs])
        deal_rounds(plan, loop, data, reach.names, stepping, _TURNS)
        progress.of_batches(plan, loop, data)
