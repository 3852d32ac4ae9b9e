"""Loops that end when a loss says so: the ranks must end alike, and decide on the average of what each has computed."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.drawing import differs
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.session_feeds import entries
from distml.rewrites.horovod.flows.session_frames import Reach, frames, reached, reads, runs_session, targets
from distml.rewrites.horovod.flows.session_gathering import Spelling
from distml.rewrites.horovod.flows.session_graph import Graph, Run, graph_of, is_counter
from distml.rewrites.horovod.flows.session_steps import range_of
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.source.nodes import walk
from distml.training.around import Looping, between, leaving, loops_around, own_nodes
from distml.training.callers import Reach as Stepping
from distml.training.callers import run_by
from distml.training.program import Program

_AVERAGE = Note(
    "averaged over the ranks",
    "training ends on this value, which each rank computes from its own batch: one rank would stop while the others wait",
    "average-decisions",
)
_LEAVE = Note(
    "left by all ranks when one leaves",
    "a clock, chance or a file may tell each rank something else; a rank that leaves the loop alone deadlocks the others",
    "leave-together",
)
_TOGETHER = Note(
    "decided by all ranks",
    "whether a step is taken depends on the batch of a rank: one that takes none would leave the others waiting",
    "same-decisions",
)


def average(plan: Plan, graph: Graph, runs: list[Run], closed: bool = False) -> None:
    """Average what steps give where it decides whether there is another; `closed` where the graph takes no operations.

    Where a clock, chance or a file decides, all ranks leave when one does.

    Raises `Refuse` (HVD206) where that cannot be done.
    """
    calls = {run.call: run for run in graph.runs}
    computed = Stepping(graph.program, [each for each in graph.program.calls if runs_session(each)])
    for run in runs:
        for frame in frames(run.call, [], graph.program):
            for loop in loops_around(frame.node, graph.program):
                for test in _endings(loop, graph.program):
                    reach = reached([test], loop)
                    deciding = [calls[n] for part in reach.parts for n in walk(part) if n in calls]
                    _left_together(plan, loop, test, reach, computed)
                    for each in dict.fromkeys(deciding):
                        _averaged(plan, each, loop, reach, test, closed)


def _left_together(plan: Plan, loop: Looping, test: ast.expr, reach: Reach, computed: Stepping) -> None:
    """Let all ranks leave a loop with the first of them where the reason may be another one on each, or found by one alone.

    What sessions have computed is averaged, or the same for all.
    """
    program, patch = plan.program, plan.patch(test)

    def settled(node: ast.AST) -> bool:
        return runs_session(node) or any(map(computed.functions.__contains__, run_by(node, program)))

    parts = [each for each in reach.parts if not any(map(settled, walk(each)))]
    names = {name for each in parts for name in reads(each)}
    within = [*own_nodes(loop)]
    changes = (node for node in within if isinstance(node, ast.Assign) and _sets_any(node, names))
    around = (a.test for each in changes for a in between(each, loop, program) if isinstance(a, ast.If))
    asked = {node for part in (*parts, *around) for node in program.sources(part, settled)}.intersection(within)
    calls = (each for each in asked if isinstance(each, ast.Call))
    if differs(calls, program, settled) and plan.may_change(test) and not patch.requests.expressions.get(test):
        every = "all" if isinstance(loop, ast.While) and test is loop.test else "any"
        patch.wrap(test, f"{every}({Spelling(plan).gathering(test)}(bool({{}})))", _LEAVE)


def _sets_any(node: ast.Assign, names: set[str]) -> bool:
    return any(targets(each) & names for each in node.targets)


def _averaged(plan: Plan, run: Run, loop: Looping, reach: Reach, test: ast.expr, closed: bool) -> None:
    """Fetch the averages of the values that a test is computed from."""
    chosen = _chosen(plan.program.statement(run.call), run, reach)
    if chosen and all(is_counter(each, plan.program) for each in chosen):
        return  # all ranks take the same steps
    if closed or not chosen or not any(node is run.call for node in own_nodes(loop)):
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
    return [*([loop.test] if isinstance(loop, ast.While) else []), *(each.test for each in leaving(loop, program))]


def skip_together(plan: Plan, loop: Looping, runs: list[Run], uniform: Uniform) -> None:
    """Let ranks take a step together, or none, where their batches say whether there is one: all skip what one must skip."""
    program = plan.program
    stepping = Stepping(program, [run.call for run in runs])
    own = _of_batches(loop, runs, uniform, loop in plan.dealt)
    for node in own_nodes(loop):
        if not isinstance(node, ast.If) or not own & reads(node.test) or uniform.holds(node.test):
            continue
        here, else_ = (stepping.holds_any(each) for each in (node.body, node.orelse))
        skips = not here and _continues(node, loop, program) and stepping.holds_any(_later(node, loop))
        if (skips or here != else_) and not plan.patch(node.test).requests.expressions.get(node.test):
            number = Uniform(program).holds(node.test)  # as often as in one process, where each rank has another
            code = "any({}(bool({{}})))" if skips or else_ or number else "all({}(bool({{}})))"
            plan.patch(node.test).wrap(node.test, code.format(Spelling(plan).gathering(node)), _TOGETHER)


def _continues(node: ast.If, loop: Looping, program: Program) -> bool:
    """Whether a branch goes on with the next iteration of a loop."""
    goes_on = any(isinstance(each, ast.Continue) for each in node.body)
    return goes_on and next(loops_around(node, program), None) is loop


def _later(node: ast.If, loop: Looping) -> list[ast.stmt]:
    """The statements of a loop behind a branch."""
    return [each for each in loop.body if each.lineno > (node.end_lineno or node.lineno)]


def _of_batches(loop: Looping, runs: list[Run], uniform: Uniform, dealt: bool) -> set[str]:
    """The variables of a loop that hold something of a rank's own batch."""
    graph = graph_of(uniform.program)
    bound = {name for node in own_nodes(loop, ast.Assign) for each in node.targets for name in targets(each)}
    bound |= (
        targets(loop.target) if isinstance(loop, ast.For) and (dealt or not range_of(loop, uniform.program)) else set()
    )
    fed = (reached([each.value for each in entries(run, graph)], loop).names for run in runs)
    found, size = {name for names in fed for name in names} & bound, -1
    while size != len(found):
        size = len(found)
        for node in own_nodes(loop, ast.Assign):
            if reads(node.value) & found and not uniform.holds(node.value):
                found |= {name for each in node.targets for name in targets(each)}
    return found
