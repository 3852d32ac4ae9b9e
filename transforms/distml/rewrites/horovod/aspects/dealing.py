"""Items that are dealt out among the ranks, one after the other."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from distml.rewrites.horovod.aspects import named, progress
from distml.rewrites.horovod.aspects.outputs import is_bar
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import own_nodes, owner_of
from distml.training.callers import Reach
from distml.training.callsites import called, is_range
from distml.training.counting import COUNTING_BARS
from distml.training.program import Program
from distml.training.syntax import names_in, nodes_in

_ROUND = Note(
    "decided by the turns of all ranks",
    "iteration numbers differ between ranks: what is done at some of them would depend on the rank that takes the turn",
    "same-decisions",
)
_TURN = Note(
    "number of this rank's iterations",
    "the ranks take the iterations by turns: what is added up by a rank is divided by how many it takes",
    "own-iterations",
)
_LEAVES = (ast.Continue, ast.Break, ast.Return)


def deal(plan: Plan, items: ast.expr, note: Note, condition: str = "") -> None:
    """Give each rank every size-th of some items, beginning with its own, so that all get as many; a progress bar around them
    that asked them for their number is told it.

    Where a `condition` is given, they are dealt out only if it holds.
    """
    world = plan.world(items)
    if not condition and _counts_itself(plan, items):
        plan.patch(items).wrap(items, f"(turn * {world.size} + {world.rank} for turn in {{}})", note)
        return
    share = f"(part[{world.rank}] for part in zip(*[iter({{}})] * {world.size}))"
    plan.patch(items).wrap(items, f"({share} if {condition} else {{}})" if condition else share, note)
    if not condition:
        progress.of_bar(plan, items)


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
        count_turns(plan, loop, items)
        return
    world, patch = plan.world(items), plan.patch(items)
    turns, own = patch.free("turns"), ast.unparse(target)
    pairs = f"(part[{world.rank}], part) for part in zip(*[iter({{}})] * {world.size})"
    if _counts_itself(plan, items):
        whole = f"range(turn * {world.size}, turn * {world.size} + {world.size})"
        pairs = f"(turn * {world.size} + {world.rank}, {whole}) for turn in {{}}"
    patch.wrap(items, f"({pairs})", note)
    patch.wrap(target, f"({own}, {turns})", _ROUND)
    for test in asked:
        patch.wrap(test, f"any({{}} for {own} in {turns})", _ROUND)
    progress.of_bar(plan, items)
    count_turns(plan, loop, items)


def _counts_itself(plan: Plan, items: ast.expr) -> bool:
    """Whether items are the numbers that a progress bar counts from 0, which counts those of a rank then."""
    if called(items, plan.program) not in COUNTING_BARS or not isinstance(items, ast.Call) or len(items.args) != 1:
        return False
    progress.divide(plan, items.args[0])
    return True


def count_turns(plan: Plan, loop: ast.AST, items: ast.expr) -> None:
    """Let what counts by the number of an iteration that is dealt out count those of a rank: behind its loop, and what divides.

    `items` is the range of those numbers, which the loop goes through.
    """
    target = _taking(loop, items, plan.program)
    if not isinstance(loop, ast.For) or not isinstance(target, ast.Name) or not is_range(items, plan.program):
        return
    begins, counts = items.args[:-1], [*_counting(loop, target.id, plan.program)]
    if counts and len(begins) < 2:
        patch = plan.patch(items)
        turn = patch.free("turn")
        patch.wrap(items, f"enumerate({', '.join(['{}', *map(ast.unparse, begins)])})", _TURN)
        patch.wrap(target, f"({turn}, {{}})", _TURN)
        for each in counts:
            patch.wrap(each, turn, _TURN)


def _counting(loop: ast.For, name: str, program: Program) -> Iterator[ast.Name]:
    """Where the number of an iteration is read behind its loop, as far as the loop has set it, divides, or moves a bar."""
    uses = [each for each in own_nodes(owner_of(loop, program), ast.Name) if each.id == name]
    end = loop.end_lineno or loop.lineno
    anew = min((each.lineno for each in uses if isinstance(each.ctx, ast.Store) and each.lineno > end), default=None)
    for each in uses:
        behind = each.lineno > end and (anew is None or each.lineno < anew)
        counts = behind or (each.lineno >= loop.lineno and (_divides(each, program) or _moves(each, program)))
        if isinstance(each.ctx, ast.Load) and counts:
            yield each


def _moves(node: ast.expr, program: Program) -> bool:
    """Whether a progress bar is told a number, itself or with a constant: how far it has come."""
    above = program.parent(node)
    while isinstance(above, ast.BinOp):
        above = program.parent(above)
    return isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and is_bar(above.func, program)


def _divides(node: ast.expr, program: Program) -> bool:
    """Whether a number, or what a constant makes of it, divides something."""
    above = program.parent(node)
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Add | ast.Sub):
        other = above.left if above.right is node else above.right
        return isinstance(other, ast.Constant) and _divides(above, program)
    return isinstance(above, ast.BinOp) and isinstance(above.op, ast.Div) and above.right is node


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
