"""Loops that end when a loss says so: the ranks must end alike, and decide on the average of what each has computed."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.flows.session_frames import Reach, frames, inside, reached, targets
from distml.rewrites.horovod.flows.session_graph import Graph, Run, is_counter
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.training.around import LOOPS, Looping, loops_around
from distml.training.program import Program

_AVERAGE = Note(
    "averaged over the ranks",
    "training ends on this value, which each rank computes from its own batch: one rank would stop while the others wait",
    "average-decisions",
)


def average(plan: Plan, graph: Graph, runs: list[Run], closed: bool = False) -> None:
    """Average what steps give where it decides whether there is another; `closed` where the graph takes no operations.

    Raises `Refuse` (HVD206) where that cannot be done.
    """
    calls = {run.call: run for run in graph.runs}
    for run in runs:
        for frame in frames(run.call, [], graph.program):
            for loop in loops_around(frame.node, graph.program):
                for test in _endings(loop, graph.program):
                    reach = reached([test], loop)
                    deciding = [calls[n] for part in reach.parts for n in ast.walk(part) if n in calls]
                    for each in dict.fromkeys(deciding):
                        _averaged(plan, each, loop, reach, test, closed)


def _averaged(plan: Plan, run: Run, loop: Looping, reach: Reach, test: ast.expr, closed: bool) -> None:
    """Fetch the averages of the values that a test is computed from."""
    chosen = _chosen(plan.program.statement(run.call), run, reach)
    if chosen and all(is_counter(each, plan.program) for each in chosen):
        return  # all ranks take the same steps
    if closed or not chosen or not any(node is run.call for node in inside(loop)):
        raise Refuse(
            "HVD206",
            test,
            "training ends on a value that each rank computes from its own batch: one rank would stop while the others wait",
            "train for a fixed number of steps, or decide on a value that is averaged over the ranks",
        )
    patch, world = plan.patch(run.call), plan.world(run.call)
    for fetched in (each for each in chosen if not is_counter(each, plan.program)):
        if not patch.requests.expressions.get(fetched):
            text = ast.unparse(fetched)
            name = patch.free(f"mean_{text.rpartition('.')[2].strip('_')}")
            patch.before(loop, f"{name} = {world.module}.allreduce({text})", _AVERAGE)
            patch.wrap(fetched, name, _AVERAGE)


def _chosen(statement: ast.stmt, run: Run, reach: Reach) -> list[ast.Name | ast.Attribute]:
    """The fetches that a test is computed from; none where they cannot be told apart or moved in front of the loop."""
    if not isinstance(statement, ast.Assign) or statement.value is not run.call:
        return []
    target, fetched = statement.targets[0], run.fetches
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(fetched, ast.List | ast.Tuple):
        return []
    if len(target.elts) != len(fetched.elts):
        return []
    pairs = zip(target.elts, fetched.elts, strict=True)
    found = [each for name, each in pairs if targets(name) & reach.names]
    return (
        [each for each in found if isinstance(each, ast.Name | ast.Attribute)]
        if all(isinstance(each, ast.Name | ast.Attribute) for each in found)
        else []
    )


def _endings(loop: Looping, program: Program) -> list[ast.expr]:
    """The conditions on which a loop is left."""
    found = [loop.test] if isinstance(loop, ast.While) else []
    for node in inside(loop):
        if isinstance(node, ast.If) and any(isinstance(each, ast.Break | ast.Return) for each in node.body):
            breaks = any(isinstance(each, ast.Return) for each in node.body)
            nearest = next((above for above in program.ancestors(node) if isinstance(above, LOOPS)), None)
            if breaks or nearest is loop:
                found.append(node.test)
    return found
