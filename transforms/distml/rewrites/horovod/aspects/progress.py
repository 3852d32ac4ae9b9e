"""How far a pass has come is told of the rank's own part, and so is what it is told beside: how much there is in all."""

from __future__ import annotations

import ast
import re
from functools import partial
from itertools import takewhile

from distml.rewrites.horovod.aspects.origins import origins
from distml.rewrites.horovod.aspects.outputs import kind_of
from distml.rewrites.horovod.aspects.tf_data import counts_divided
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import own_nodes, owner_of
from distml.training.callsites import argument, called, is_range
from distml.training.counting import BARS
from distml.training.program import Program
from distml.training.syntax import nodes_in
from distml.training.values import Box

_PART = Note("number of this rank's samples or batches", "each rank processes its own part of the data", "own-samples")
_SIZED = re.compile(
    r"torch\.(randperm|arange)\(\)|numpy\.(random\.permutation|arange)\(\)|builtins\.(range|list|sorted)\(\)"
)
_ROUNDS = re.compile(
    r"builtins\.(int|float|round|max|min)|math\.(ceil|floor)|numpy\.(ceil|floor|int\w*|maximum|minimum)"
)
"""What gives a number for a number."""
_SHOWING = ("format", "set_description", "set_postfix", "set_description_str", "set_postfix_str")


def divide(plan: Plan, number: ast.expr) -> None:
    """Ask for the part of a rank in the place of a number."""
    code = f"{{}} // {plan.world(number).size}"
    within = isinstance(plan.program.parent(number), ast.BinOp | ast.UnaryOp | ast.Attribute)
    plan.patch(number).wrap(number, f"({code})" if within else code, _PART)


def of_batches(plan: Plan, loop: ast.For, data: ast.expr) -> None:
    """Divide, where it is computed, the number of batches that the data of a loop comes in, whoever is told of it.

    It is a quotient by the length of what the data is made of. What divides sums by it combines these over the ranks.
    """
    program = plan.program
    owner = owner_of(loop, program)
    parts = {ast.dump(each) for each in walk(data) if isinstance(each, ast.Name | ast.Attribute)}
    for node in own_nodes(owner, ast.Assign):
        target = node.targets[0]
        quotient = any(
            isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div | ast.FloorDiv) for each in walk(node.value)
        )
        measured = (
            call.args[0] for call in nodes_in(node.value, ast.Call) if "builtins.len" in program.names(call.func)
        )
        made = isinstance(node.value, ast.Call) and not program.matches(node.value.func, _ROUNDS)
        if isinstance(target, ast.Name) and quotient and not made and node.lineno < loop.lineno:
            uses = [each for each in nodes_in(owner, ast.Name) if each.id == target.id and each is not target]
            if any(ast.dump(each) in parts for each in measured) and not any(_decides(each, program) for each in uses):
                divide(plan, node.value)


def of_bars(plan: Plan, items: ast.expr) -> None:
    """Tell the progress bars around what a loop goes through, of which a rank has a part, how much of it that is."""
    for call in nodes_in(items, ast.Call):
        if called(call, plan.program) in BARS and call.args:
            of_bar(plan, call.args[0])


def of_bar(plan: Plan, items: ast.expr) -> None:
    """Tell a progress bar around items that are dealt out how many of them a rank gets."""
    bar = plan.program.parent(items)
    if not isinstance(bar, ast.Call) or items not in bar.args[:1] or called(bar, plan.program) not in BARS:
        return
    total = argument(bar, 2, "total")
    if total is not None:
        plan.later.append(partial(divide_once, plan, total))
    elif _has_length(items, plan):
        plan.patch(bar).keyword(bar, "total", f"len({ast.unparse(items)}) // {plan.world(bar).size}", _PART)


def _has_length(items: ast.expr, plan: Plan) -> bool:
    """Whether items are surely counted: a range, a list, an order of numbers."""
    lists = [
        isinstance(each, Box) and isinstance(each.node, ast.List | ast.ListComp) for each in plan.program.of(items)
    ]
    return plan.program.matches(items, _SIZED) or (bool(lists) and all(lists))


def divide_once(plan: Plan, number: ast.expr) -> None:
    """Ask for the part of a rank in the place of a number, unless that, or what it is computed from, is divided already."""
    made = [number, *(each.value for each in origins(number, plan.program))]
    sources = {node for each in made for node in (each, *plan.program.sources(each)) if isinstance(node, ast.expr)}
    divided = any("// " in code for each in sources for code in plan.patch(each).requests.expressions.get(each, ()))
    if not divided and not asked(plan, number) and not counts_divided(plan, number):
        divide(plan, number)


def _decides(use: ast.Name, program: Program) -> bool:
    """Whether a number is set again, divides something, or says how often a loop runs."""
    above = program.parent(use)
    divides = (
        isinstance(above, ast.BinOp) and isinstance(above.op, ast.Div | ast.FloorDiv | ast.Mod) and above.right is use
    )
    return divides or not isinstance(use.ctx, ast.Load) or is_range(above, program)


def asked(plan: Plan, number: ast.expr) -> bool:
    """Whether a number, or one that is computed of it, is changed already."""
    expressions = plan.patch(number).requests.expressions
    around = takewhile(lambda each: isinstance(each, ast.BinOp), plan.program.ancestors(number))
    return any(expressions.get(each) for each in (*walk(number), *around) if isinstance(each, ast.expr))


def showing(node: ast.expr, program: Program) -> ast.expr | None:
    """The text that something becomes a part of, with what else is in it, or the call that shows it; None for neither."""
    for above in program.ancestors(node):
        text = above.left if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mod) else above
        if isinstance(text, ast.JoinedStr) or (isinstance(text, ast.Constant) and isinstance(text.value, str)):
            return above if isinstance(above, ast.expr) else None
        if isinstance(above, ast.Call) and (kind_of(above, program) == "output" or called(above, program) in _SHOWING):
            return above
        if isinstance(above, ast.stmt):
            return None
    return None
