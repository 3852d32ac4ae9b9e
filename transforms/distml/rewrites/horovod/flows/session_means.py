"""What a loop over divided data adds up of its session's results, and tells of them, becomes the mean over all ranks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from distml.rewrites.horovod.aspects.means import Means
from distml.rewrites.horovod.aspects.scalars import scalar
from distml.rewrites.horovod.aspects.totals import EqualShares
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.session_decisions import skip_together
from distml.rewrites.horovod.flows.session_feeds import entries
from distml.rewrites.horovod.flows.session_frames import frames, reached, runs_session, set_in
from distml.rewrites.horovod.flows.session_gathering import Spelling
from distml.rewrites.horovod.flows.session_graph import Graph, Run
from distml.rewrites.horovod.flows.session_steps import few
from distml.rewrites.horovod.plan import Plan
from distml.training.around import Looping, loops_around, own_nodes
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import method_name
from distml.training.values import Box

_TEXT = re.compile(r"tensorflow\.summary\.\w+\(\)")
"""What a session gives as a text for a log."""
_LOSSES = {"minimize": "loss", "compute_gradients": "loss", "optimize_loss": "loss", "gradients": "ys"}


def average(plan: Plan, graph: Graph, runs: list[Run]) -> None:
    """Behind the loops in which these steps take their batches, and where they tell of them."""
    loops: dict[Looping, list[Run]] = {}
    for run in runs:
        if (loop := _batches(run, graph)) is not None:
            loops.setdefault(loop, []).append(run)
    numbers = {name for loop, own in loops.items() for run in own for name in _numbers(loop, run, graph)}
    spelling = Spelling(plan)
    uniform = Uniform(plan.program, plan.dealt)
    means = Means(plan, uniform, numbers, spelling)
    means.tell_sums(EqualShares(plan))
    means.average({*loops})
    for loop, own in loops.items():
        if plan.may_change(loop):
            plan.later.append(partial(skip_together, plan, loop, own, uniform))


def _batches(run: Run, graph: Graph) -> Looping | None:
    """The loop that takes another batch in each of its turns: the innermost that is not part of a step."""
    program = graph.program
    chain = [loop for frame in frames(run.call, [], program) for loop in loops_around(frame.node, program)]
    return next((loop for loop in chain if not few(loop, program)), None)


def _numbers(loop: Looping, run: Run, graph: Graph) -> Iterator[str]:
    """The variables that get a number of the rank's batch: of the step itself, or of another look at what it was fed."""
    fed = reached([each.value for each in entries(run, graph)], loop).names & set_in(loop)
    for call in (each for each in own_nodes(loop, ast.Call) if runs_session(each)):
        feeds = argument(call, 1, "feed_dict")
        if call is run.call or (feeds is not None and reached([feeds], loop).names & fed):
            for target, fetched in _results(call, loop, graph.program):
                number = _is_loss(fetched, graph) or scalar(fetched, graph.program)
                if isinstance(target, ast.Name) and number and not graph.program.matches(fetched, _TEXT):
                    yield target.id


def _results(call: ast.Call, loop: Looping, program: Program) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement assigns of the results of a session, and what was fetched for it."""
    statement = program.statement(call)
    fetched = argument(call, 0, "fetches")
    if not isinstance(statement, ast.Assign) or statement.value is not call or fetched is None:
        return
    boxes = [each.node for each in program.of(fetched) if isinstance(each, Box)]
    listed = boxes[0] if len(boxes) == 1 else fetched
    for target in statement.targets:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(listed, ast.Tuple | ast.List):
            if len(target.elts) == len(listed.elts):
                yield from zip(target.elts, listed.elts, strict=True)
        elif isinstance(target, ast.Name) and isinstance(listed, ast.Tuple | ast.List):
            for each in own_nodes(loop, ast.Assign):
                at = _item(each.value, target.id)
                if at is not None and at < len(listed.elts):
                    yield each.targets[0], listed.elts[at]
        else:
            yield target, fetched


def _item(node: ast.expr, name: str) -> int | None:
    """Which item of a variable's list an expression is."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
        at = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return at if isinstance(at, int) and at >= 0 else None
    return None


def _is_loss(fetched: ast.expr, graph: Graph) -> bool:
    """Whether something fetched is what an optimizer makes small."""
    wanted = graph.program.of(fetched)
    for call in graph.program.calls:
        name = method_name(call)
        loss = argument(call, 0, _LOSSES[name]) if name in _LOSSES else None
        if loss is not None and any(value in wanted for value in graph.program.of(loss)):
            return True
    return False
