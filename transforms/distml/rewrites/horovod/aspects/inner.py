"""What is put out within other expressions: in a branch of `a if b else c`, behind `and`, in a lambda, by what is handed on.

A statement of which all that comes out is output is put under rank 0 as a whole. Otherwise the function that puts out is left
to rank 0, where nobody can tell: where what it gives is nothing, or is thrown away.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects import outputs
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.plan import Plan
from distml.training.around import owner_of
from distml.training.program import Program
from distml.training.syntax import nodes_in, values_given
from distml.training.values import Callable, Class

_GIVE_NOTHING = re.compile(
    r"torch\.(jit\.)?save|numpy\.save\w*|(json|pickle|dill)\.dump|torchvision\.utils\.save_image|shutil\.rmtree"
    r"|os\.(remove|unlink|rmdir|rename|replace)"
)
_RUN = re.compile(
    r"threading\.(Thread|Timer)|concurrent\.futures\.(thread\.)?ThreadPoolExecutor\(\)\.(submit|map)|asyncio\.to_thread"
    r"|asyncio\.(get_event_loop|get_running_loop)\(\)\.run_in_executor|builtins\.map|atexit\.register"
)
"""What runs a function that it is given, in this process."""


def by_rank_zero(plan: Plan) -> None:
    """Leave what is put out within expressions to rank 0: in files that know their rank, and in functions of other modules."""
    known = set(plan.worlds)
    for unit in plan.units():
        changed = unit.source.location in known
        calls = (each for each in nodes_in(unit.tree, ast.Call) if each not in plan.program.idle)
        for call in calls:
            if changed or outputs.puts_out(call, plan):
                whole = plan.program.statement(call)
                if isinstance(whole, ast.Expr) and whole.value is not call and call in _ends(whole.value):
                    _statement(whole, plan)
                _call(call, plan)


def _statement(node: ast.Expr, plan: Plan) -> None:
    """Put a statement under rank 0 if all that comes out of it is output."""
    ends = [each for each in _ends(node.value) if not isinstance(each, ast.Constant)]
    calls = [each for each in ends if isinstance(each, ast.Call)]
    kinds = [outputs.kind_of(each, plan.program) for each in calls]
    if len(calls) < len(ends) or not reads_only(node.value, plan.program, harmless=calls):
        return
    if all(kinds) and all(
        outputs.is_for_one(node, each, kind, plan) for each, kind in zip(calls, kinds, strict=True) if kind
    ):
        outputs.guard(plan, node, kinds[0] or "output")


def _ends(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression comes to that is a statement: nobody takes any of it."""
    if isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.BoolOp):
        parts = node.values[-1:]
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = node.elts
    elif isinstance(node, ast.ListComp | ast.SetComp):
        parts = [node.elt]
    else:
        yield node
        return
    for each in parts:
        yield from _ends(each)


def _call(node: ast.Call, plan: Plan) -> None:
    """Leave what puts out somewhere within a statement to rank 0, and what is handed on for that."""
    program = plan.program
    kind = None if isinstance(program.parent(node), ast.Expr) else outputs.kind_of(node, program)
    if kind is not None and (_gives_nothing(node, kind, program) or _thrown_away(node, program)):
        _left_to_one(node, node.func, kind, plan)
    names = program.names(node.func)
    if any(map(_RUN.fullmatch, names)) and not any(isinstance(v, Callable | Class) for v in program.of(node.func)):
        for given in values_given(node):
            handed = outputs.kind_of(node, program, given) if isinstance(given, ast.Name | ast.Attribute) else None
            if handed is not None:
                _left_to_one(node, given, handed, plan)


def _left_to_one(node: ast.Call, function: ast.expr, kind: str, plan: Plan) -> None:
    """Let rank 0 alone run a function, unless the statement, or an expression around, is left to it already."""
    program, requests = plan.program, plan.patch(node).requests
    whole = program.statement(node)
    around = (each for each in program.ancestors(node) if isinstance(each, ast.expr))
    rank = plan.world(node).rank
    quiet = any(
        rank in code or "on_rank_zero" in code for each in around for code in requests.expressions.get(each, ())
    )
    if not quiet and function not in requests.expressions and outputs.is_for_one(whole, node, kind, plan):
        outputs.run_by_one(node, function, kind, plan)


def _gives_nothing(node: ast.Call, kind: str, program: Program) -> bool:
    names = program.names(node.func)
    return kind in ("output", "summary") or any(map(_GIVE_NOTHING.fullmatch, names))


def _thrown_away(node: ast.Call, program: Program) -> bool:
    """Whether nothing takes what a call gives."""
    whole = program.statement(node)
    if isinstance(whole, ast.Expr):
        return node in _ends(whole.value)
    if not isinstance(whole, ast.Assign) or whole.value is not node:
        return False
    names = {each.id for each in whole.targets if isinstance(each, ast.Name)}
    read = (each for each in nodes_in(owner_of(whole, program), ast.Name) if each.id in names)
    return len(names) == len(whole.targets) and all(isinstance(each.ctx, ast.Store) for each in read)
