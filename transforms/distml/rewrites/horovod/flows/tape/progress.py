"""What loops over tapes tell of their length: how many iterations or samples there are is told beside the number of one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.intervals import counted, numbered
from distml.rewrites.horovod.aspects.outputs import is_bar
from distml.rewrites.horovod.aspects.pipelines import Path, paths
from distml.rewrites.horovod.aspects.progress import divide_once, showing
from distml.rewrites.horovod.aspects.tf_data import whole_number
from distml.rewrites.horovod.flows.tape.turns import Turn
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import own_nodes, owner_of
from distml.training.callers import run_by
from distml.training.program import Program
from distml.training.syntax import names_in, nodes_in, receiver_of, targets_of, values_given

_COUNTS = re.compile(r"builtins\.len|.*\.(__len__|cardinality)|tensorflow\.data\.experimental\.cardinality")
_NUMBERS = frozenset({"num_examples"})
"""Attributes that say how many samples a data set of a library has."""


def tell(plan: Plan) -> None:
    """Divide what is told, in loops of which a rank takes fewer iterations, of the number of all."""
    for loop, others in plan.fewer.items():
        if isinstance(loop, ast.For):
            counters = numbered(loop, counted(loop, plan.program), plan.program) - others
            for number in (*_wholes(loop, counters, plan.program), *_begun(loop, plan.program)):
                divide_once(plan, number)


def _wholes(loop: ast.For, counters: set[str], program: Program) -> Iterator[ast.expr]:
    """The numbers of all iterations or samples that stand in one text with the number of an iteration."""
    turn = Turn(loop, loop.iter, program)
    through = paths(turn.inner, program)
    ends, data = _ends(turn, through, program), _data(turn, through, program)
    own = names_in(loop.target).union(*(names_in(t) for node in nodes_in(loop, ast.stmt) for t in targets_of(node)))
    for node in (each for statement in loop.body for each in nodes_in(statement, ast.expr)):
        end = ast.dump(node) in ends and not isinstance(node, ast.Constant)
        text = showing(node, program) if (end or _is_number(node, program)) and not names_in(node) & own else None
        if text is not None and names_in(text) & counters:
            if end or any(_is_count(each, data, program) for each in program.sources(node)):
                yield node


def _begun(loop: ast.For, program: Program) -> Iterator[ast.expr]:
    """The number of all iterations that something is told in front of a loop and that counts them there, such as a bar."""
    turn = Turn(loop, loop.iter, program)
    through = paths(turn.inner, program)
    ends, data = _ends(turn, through, program), _data(turn, through, program)
    for node in own_nodes(owner_of(loop, program), ast.Assign):
        if isinstance(node.value, ast.Call) and node.lineno < loop.lineno:
            if any(_counts(each, ast.unparse(node.targets[0]), program) for each in nodes_in(loop, ast.Call)):
                given = values_given(node.value)
                yield from (each for each in given if ast.dump(each) in ends or _is_quotient(each, data, program))


def _is_quotient(node: ast.expr, data: set[ast.AST], program: Program) -> bool:
    """Whether an expression is in how many batches data comes: how many samples there are, divided."""
    divides = any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div | ast.FloorDiv) for each in walk(node))
    return divides and any(_is_count(each, data, program) for each in walk(node))


def _counts(call: ast.Call, held: str, program: Program) -> bool:
    """Whether a call moves on the count that an object keeps which is `held` in a variable: that of a bar, or one of its own."""
    on = receiver_of(call)
    if on is None or ast.unparse(on) != held:
        return False
    changed = (each for function in run_by(call, program) for each in nodes_in(function, ast.AugAssign))
    return is_bar(call.func, program) or any(isinstance(each.target, ast.Attribute) for each in changed)


def _ends(turn: Turn, through: list[Path], program: Program) -> set[str]:
    """The number of iterations of a loop as it is written, where it is written once."""
    counts = {*(turn.count.args if turn.count is not None else (arg for path in through for arg in _taken(path)))}
    return {ast.dump(whole_number(each, program)) for each in counts if len(counts) == 1}


def _data(turn: Turn, through: list[Path], program: Program) -> set[ast.AST]:
    """What the data of a loop is made of."""
    given = [each.unpacked.value if each.unpacked else each.nodes[0] for each in through]
    return {part for each in given or [turn.inner] for part in program.sources(each)}


def _taken(path: Path) -> Iterator[ast.expr]:
    """The numbers of elements that a pipeline takes of what it has."""
    for node, method in zip(path.nodes, path.methods, strict=True):
        yield from node.args[:1] if method == "take" and isinstance(node, ast.Call) else ()


def _is_number(node: ast.expr, program: Program) -> bool:
    """Whether an expression may be a number that is read: a variable, or a count of something, and no part of another."""
    above = program.parent(node)
    if isinstance(above, ast.Attribute | ast.Subscript) or (isinstance(above, ast.Call) and node is above.func):
        return False
    read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    within = isinstance(above, ast.Call) and _measured(above, program) is not None
    return not within and (read or _measured(node, program) is not None)


def _measured(node: ast.AST, program: Program) -> ast.expr | None:
    """What something counts: `x` of `len(x)`, `x.shape[0]`, `x.cardinality()`."""
    if isinstance(node, ast.Call) and program.matches(node.func, _COUNTS):
        own = isinstance(node.func, ast.Attribute) and not node.args
        return node.func.value if own and isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
    shape = node.value if isinstance(node, ast.Subscript) else None
    return shape.value if isinstance(shape, ast.Attribute) and shape.attr == "shape" else None


def _is_count(node: ast.AST, data: set[ast.AST], program: Program) -> bool:
    """Whether an expression counts the samples that data is made of: what is measured is one of its sources."""
    if isinstance(node, ast.Attribute) and node.attr in _NUMBERS:
        return any(isinstance(each, ast.Call) for each in program.sources(node) & data)
    measured = _measured(node, program)
    if measured is None:
        return False
    values, text, owner = program.of(measured), ast.dump(measured), program.function(measured)
    return any(
        (program.of(each) & values) or (ast.dump(each) == text and program.function(each) is owner) for each in data
    )
