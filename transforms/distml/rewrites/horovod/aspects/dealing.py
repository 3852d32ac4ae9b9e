"""Items that are dealt out among the ranks, one after the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Container

from distml.rewrites.horovod.aspects import named
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import own_nodes
from distml.training.callers import Reach
from distml.training.callsites import argument, called
from distml.training.counting import BARS
from distml.training.program import Program
from distml.training.syntax import names_in, nodes_in
from distml.training.values import Box

_ROUND = Note(
    "decided by the turns of all ranks",
    "iteration numbers differ between ranks: what is done at some of them would depend on the rank that takes the turn",
    "same-decisions",
)
_LEAVES = (ast.Continue, ast.Break, ast.Return)
_SIZED = re.compile(
    r"torch\.(randperm|arange)\(\)|numpy\.(random\.permutation|arange)\(\)|builtins\.(range|list|sorted)\(\)"
)


def deal(plan: Plan, items: ast.expr, note: Note, condition: str = "") -> None:
    """Give each rank every size-th of some items, beginning with its own, so that all get as many; a progress bar around them
    that asked them for their number is told it.

    Where a `condition` is given, they are dealt out only if it holds.
    """
    world = plan.world(items)
    share = f"(part[{world.rank}] for part in zip(*[iter({{}})] * {world.size}))"
    plan.patch(items).wrap(items, f"({share} if {condition} else {{}})" if condition else share, note)
    bar = plan.program.parent(items)
    if not condition and isinstance(bar, ast.Call) and items in bar.args[:1] and called(bar, plan.program) in BARS:
        if argument(bar, 2, "total") is None and _has_length(items, plan):
            plan.patch(bar).keyword(bar, "total", f"len({ast.unparse(items)}) // {world.size}", note)


def draw_own(plan: Plan, call: ast.expr, note: Note) -> None:
    """Let all ranks draw as often as there are ranks, and keep what is their own: they draw alike further on."""
    world = plan.world(call)
    plan.patch(call).wrap(call, f"[{{}} for _ in range({world.size})][{world.rank}]", note)


def deal_rounds(plan: Plan, loop: ast.AST, items: ast.expr, fed: Container[str], steps: Reach, note: Note) -> None:
    """Give each rank its turn of each round of some items that a loop goes through.

    What conditions ask of a turn, they ask of all turns of the round, so that all ranks decide alike and none is left out; but
    for those that decide what is `fed` or take `steps` themselves.
    """
    target = _taking(loop, items, plan.program)
    asked: list[ast.expr] = []
    if isinstance(loop, ast.For) and target is not None:
        named.told(plan, loop, names_in(target))
        asked = _asked(loop, names_in(target), fed, steps)
    if target is None or not asked:
        deal(plan, items, note)
        return
    world, patch = plan.world(items), plan.patch(items)
    turns, own = patch.free("turns"), ast.unparse(target)
    patch.wrap(items, f"((part[{world.rank}], part) for part in zip(*[iter({{}})] * {world.size}))", note)
    patch.wrap(target, f"({own}, {turns})", _ROUND)
    for test in asked:
        patch.wrap(test, f"any({{}} for {own} in {turns})", _ROUND)


def _taking(loop: ast.AST, items: ast.expr, program: Program) -> ast.expr | None:
    """What of the target of a loop takes some items that it goes through, with their numbers beside them or not."""
    around = [items, *program.ancestors(items)]
    if not isinstance(loop, ast.For) or loop.iter not in around:
        return None
    numbered = any(called(each, program) == "enumerate" for each in around[1 : around.index(loop.iter) + 1])
    return loop.target.elts[-1] if numbered and isinstance(loop.target, ast.Tuple) else loop.target


def _asked(loop: ast.For, own: set[str], fed: Container[str], steps: Reach) -> list[ast.expr]:
    """The conditions in a loop that read the turn of a rank, and decide neither what is fed nor whether steps are taken."""
    branches = (each for each in own_nodes(loop, ast.If) if names_in(each.test) & own and not steps.holds(each))
    staying = (each for each in branches if not any(isinstance(node, _LEAVES) for node in walk(each)))
    return [
        each.test
        for each in staying
        if not any(name.id in fed for name in nodes_in(each, ast.Name) if isinstance(name.ctx, ast.Store))
    ]


def _has_length(items: ast.expr, plan: Plan) -> bool:
    """Whether items are surely counted: a range, a list, an order of numbers."""
    lists = [
        isinstance(each, Box) and isinstance(each.node, ast.List | ast.ListComp) for each in plan.program.of(items)
    ]
    return plan.program.matches(items, _SIZED) or (bool(lists) and all(lists))
