"""Files that a loop names after the number of a step: a rank's own count is another than that of one process, so that a name
which the program writes out elsewhere finds another file than it did, or none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.origins import computed_from
from distml.rewrites.horovod.aspects.pictures import saves
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import Looping
from distml.training.callers import run_by
from distml.training.callsites import argument, argument_for
from distml.training.program import Program
from distml.training.syntax import nodes_in, values_given

_SAVER = re.compile(r"tensorflow\.train\.Saver\(\)\.save")
_FIELD = re.compile(r"%[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z]|\{[^{}]*\}")


def told(plan: Plan, loop: Looping, names: set[str]) -> None:
    """Warn of names that are written out as a loop, whose steps `names` count, gave them before these were divided."""
    written = "|".join(map(re.escape, _stems(loop, names, plan.program, 3)))
    texts = [*plan.program.nodes(ast.AST)] if written else []
    for node in texts:
        text = _text(node) if not isinstance(plan.program.parent(node), ast.Expr | ast.JoinedStr) else ""
        if isinstance(node, ast.expr) and re.fullmatch(rf"({written})-?\d+(\.\w+)*", text.rpartition("/")[2]):
            what = f"`{text}` names a file after the steps of one process; what is saved now is named after those of a rank"
            plan.warn("HVD314", node, what, "divide the number in the name by the number of ranks")


def _stems(node: ast.AST, names: set[str], program: Program, depth: int) -> Iterator[str]:
    """What stands in front of its number in the names of files that a loop writes, or functions that it gives its number."""
    for call in nodes_in(node, ast.Call):
        if saves(call, program):
            of_saver = program.matches(call.func, _SAVER) and _reads(argument(call, 2, "global_step"), names)
            for each in values_given(call):
                parts = computed_from([each], program)
                if not any(isinstance(part, ast.Dict) for part in parts):
                    if of_saver or any(_reads(part, names) for part in parts):
                        yield from (stem for part in parts for text in walk(part) for stem in _fronts(_text(text)))
            continue
        for function in run_by(call, program) if depth else ():
            if isinstance(function, ast.FunctionDef):
                given = {each.arg: argument_for(call, function, each.arg, program) for each in function.args.args}
                inner = {name for name, value in given.items() if _reads(value, names)}
                yield from _stems(function, inner, program, depth - 1) if inner else ()


def _fronts(text: str) -> Iterator[str]:
    """What stands in front of fields in a text: the last part of a path, with a letter."""
    parts = (each.rpartition("/")[2] for each in _FIELD.split(text))
    return (each for each in parts if re.search(r"[A-Za-z]", each))


def _reads(node: ast.expr | None, names: set[str]) -> bool:
    return node is not None and any(isinstance(each, ast.expr) and ast.unparse(each) in names for each in walk(node))


def _text(node: ast.AST) -> str:
    """The text that something is where it is written out, filled in or not."""
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
        return _FIELD.sub(str(node.right.value), _text(node.left), count=1)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
