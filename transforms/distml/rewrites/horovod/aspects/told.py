"""What a loop over divided data tells of the batches of its rank, and nothing has combined: that is said."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from distml.rewrites.horovod.aspects.batches import Batches, own_nodes
from distml.rewrites.horovod.aspects.outputs import tells
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.plan import Plan
from distml.training.around import LOOPS, Looping, block_of
from distml.training.callsites import called
from distml.training.program import Program

_RANGES = frozenset({"range", "xrange", "trange", "arange", "count"})
_SIZES = frozenset({"shape", "dtype", "ndim", "name"})


def warn(plan: Plan) -> None:
    """Warn of what loops tell of their batches, when all that combines it is asked for."""
    plan.later.append(partial(_warn, plan))


def _warn(plan: Plan) -> None:
    uniform = Uniform(plan.program, plan.dealt)
    for loop, (numbers, same) in plan.told.items():
        if isinstance(loop, LOOPS) and plan.program.unit(loop).source.location in plan.editable:
            _warn_of(plan, uniform, loop, numbers, same)


def _warn_of(plan: Plan, uniform: Uniform, loop: Looping, numbers: set[str], same: set[str]) -> None:
    """Warn of what is told in a loop, or right behind it, of `numbers` of its batches or of what is computed of them."""
    told = _Told(plan, uniform, loop, numbers, same)
    found: dict[str, ast.stmt] = {}
    for statement in (loop, *told.behind()):
        for each in own_nodes(statement, itself=True):
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and tells(each.value, plan.program):
                for text in told.of_one(each):
                    found.setdefault(text, each)
    if found:
        listed, first = ", ".join(f"`{each}`" for each in found), next(iter(found.values()))
        what = f"what is told here is of the data of rank 0 alone, not combined across ranks: {listed}"
        plan.warn("HVD312", first, what, "combine it across ranks before it is told, or say that it is of one rank")


class _Told:
    """Answers for the statements of one loop."""

    def __init__(self, plan: Plan, uniform: Uniform, loop: Looping, numbers: set[str], same: set[str]) -> None:
        self.plan, self.uniform, self.loop, self.numbers, self.same = plan, uniform, loop, numbers, same
        batches = Batches(plan.program, uniform, loop)
        self.names = batches.frames[0].names - _counting(loop, plan.program)

    def behind(self) -> Iterator[ast.stmt]:
        """The statements behind the loop, up to the next one."""
        block = block_of(self.loop, self.plan.program)
        for statement in block[block.index(self.loop) + 1 :] if self.loop in block else ():
            if isinstance(statement, LOOPS):
                return
            yield statement
            stored = (each for each in ast.walk(statement) if isinstance(each, ast.Name))
            self.same |= {each.id for each in stored if isinstance(each.ctx, ast.Store)}

    def of_one(self, statement: ast.stmt) -> Iterator[str]:
        """What a statement tells that is of one rank."""
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, ast.Attribute) and node.attr in _SIZES:
                continue
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
                text = ast.unparse(node)
                if self._is_of_one(node, text) and not self._combined(statement, text):
                    yield text
                    continue
            if not isinstance(node, ast.expr) or not self.uniform.holds(node) or isinstance(node, ast.Call):
                waiting += ast.iter_child_nodes(node)

    def _is_of_one(self, node: ast.expr, text: str) -> bool:
        root: ast.expr = node
        while isinstance(root, ast.Subscript):
            root = root.value
        name = ast.unparse(root)
        if name in self.same or self.uniform.holds(node):
            return False
        if isinstance(root, ast.Name) and self.uniform.comprehended(root):
            return False
        return text in self.numbers or name in self.numbers or (isinstance(root, ast.Name) and name in self.names)

    def _combined(self, statement: ast.stmt, text: str) -> bool:
        """Whether something is asked for in front of a statement, or behind the loop it follows, that combines what is told."""
        program, asked = self.plan.program, self.plan.patch(statement).requests.statements
        codes: list[str] = []
        for above in (statement, *program.ancestors(statement)):
            if above is self.loop or not isinstance(above, ast.stmt):
                break
            block = block_of(above, program)
            begin = block.index(self.loop) if self.loop in block else 0
            for each in block[begin : block.index(above) + 1] if above in block else ():
                if each in asked:
                    codes += asked[each].before
                    codes += asked[each].after if each is not above else []
        name = re.escape(text if text in self.numbers else re.split(r"[.\[]", text)[0])
        return any(re.search(rf"(?<![\w.]){name}\b", code) for code in codes)


def _counting(loop: Looping, program: Program) -> set[str]:
    """The variables of a loop that only count: what numbers the turns of a rank is nothing of its data."""
    if not isinstance(loop, ast.For):
        return set()
    made = [*ast.walk(loop.iter), *program.sources(loop.iter)]
    ranges = any(isinstance(each, ast.Call) and called(each, program) in _RANGES for each in made)
    return {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)} if ranges else set()
