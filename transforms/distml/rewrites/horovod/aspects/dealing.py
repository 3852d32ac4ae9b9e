"""Items that are dealt out among the ranks, one after the other."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callsites import argument, called
from distml.training.counting import BARS
from distml.training.values import Box

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


def _has_length(items: ast.expr, plan: Plan) -> bool:
    """Whether items are surely counted: a range, a list, an order of numbers."""
    lists = [
        isinstance(each, Box) and isinstance(each.node, ast.List | ast.ListComp) for each in plan.program.of(items)
    ]
    return plan.program.matches(items, _SIZED) or (bool(lists) and all(lists))
