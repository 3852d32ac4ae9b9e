"""Loops that count turns and draw a batch in each by `next`: a rank has fewer batches, and would run out of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.flows.pytorch.loops import Loops, Use
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import LOOPS, Looping, block_of, owner_of
from distml.training.callsites import called
from distml.training.program import Program

_TURNS = Note(
    "turns for the batches of this rank", "a rank that asks for more than its share would find none", "fewer-steps"
)
_LIMIT = Note(
    "limit for the turns of this rank", "all ranks together take as many steps as one process did", "fewer-steps"
)
_ITERATES = ("iter", "enumerate", "__iter__")


class Counts:
    """Plans the numbers of turns of loops that draw from an iterator which is made anew in front of them."""

    def __init__(self, study: Study, plan: Plan, loops: Loops) -> None:
        self.study, self.plan, self.loops, self.program = study, plan, loops, study.program
        self._asked: set[ast.expr] = set()

    def fewer(self, use: Use, sampled: set[ast.Call]) -> None:
        """Ask for the turns of the loop that draws; `sampled` loaders have only the batches of a rank, and a length to suit."""
        if isinstance(use.drawn, ast.For):
            self._limited(use.drawn, sampled)
        loop = self._loop(use)
        if loop is None:
            return
        for bound in self._bounds(loop):
            if bound not in self._asked and not self.counts_own(bound, sampled):
                self._asked.add(bound)
                self.study.shortened.add(loop)
                self.plan.patch(bound).wrap(bound, f"{{}} // {self.plan.world(bound).size}", _TURNS)
                self._last(loop, bound)

    def _limited(self, loop: ast.For, sampled: set[ast.Call]) -> None:
        """The limits at which training ends by the number of turns: `if step >= most: break`, `while step < most:`."""
        around = [each for each in self.program.ancestors(loop) if isinstance(each, LOOPS)]
        around = [each for each in around if self.program.function(each) is self.program.function(loop)]
        counted = _counted(loop, self.program)
        for node in ast.walk(around[-1] if around else loop):
            leaves = isinstance(node, ast.If) and any(isinstance(each, ast.Break | ast.Return) for each in node.body)
            if leaves or (isinstance(node, ast.While) and node in around):
                for bound in _limits(node.test, counted) if isinstance(node, ast.If | ast.While) else ():
                    if bound not in self._asked and not self._own(bound, sampled):
                        self._asked.add(bound)
                        whole = "({})" if isinstance(bound, ast.BinOp | ast.IfExp | ast.BoolOp) else "{}"
                        self.plan.patch(bound).wrap(bound, f"{whole} // {self.plan.world(bound).size}", _LIMIT)

    def _own(self, bound: ast.expr, sampled: set[ast.Call]) -> bool:
        """Whether a limit is computed from the batches of a rank, or from its samples, as it is made to be elsewhere."""
        held = (each.value for each in ast.walk(bound) if isinstance(each, ast.Attribute) and each.attr == "dataset")
        return self.counts_own(bound, sampled) or any(self.loops.makers(each) & sampled for each in held)

    def _last(self, loop: Looping, bound: ast.expr) -> None:
        """The turn that is known as the last by its number: `if i + 1 == turns:`."""
        for node in ast.walk(loop) if isinstance(loop, ast.For) else ():
            right = node.comparators[0] if isinstance(node, ast.Compare) and len(node.ops) == 1 else None
            if right is not None and ast.unparse(right) == ast.unparse(bound) and not isinstance(right, ast.Constant):
                self.plan.patch(right).wrap(right, f"{{}} // {self.plan.world(right).size}", _TURNS)

    def _loop(self, use: Use) -> Looping | None:
        """The loop behind the only statement that makes the iterator, in the same block."""
        draw = use.drawn
        if not isinstance(draw, ast.Call) or any(isinstance(each, ast.Try) for each in self.program.ancestors(draw)):
            return None
        iterator = draw.args[0] if draw.args else getattr(draw.func, "value", None)
        makes = [*self._makes(iterator)] if isinstance(iterator, ast.Name) else []
        if len(makes) != 1:
            return None
        block, reach = block_of(makes[0], self.program), self.study.reach([draw])
        behind = (each for each in block[block.index(makes[0]) + 1 :] if reach.holds(each))
        found = next(behind, None)
        return found if isinstance(found, LOOPS) else None

    def _makes(self, iterator: ast.Name) -> Iterator[ast.stmt]:
        """The statements that set a variable to a new iterator, also under the same name in another function."""
        for unit in self.program.units.values():
            for node in ast.walk(unit.tree):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and self._begins(node.value):
                    if any(isinstance(each, ast.Name) and each.id == iterator.id for each in node.targets):
                        if unit is self.program.unit(iterator) and self._seen_from(node, iterator):
                            yield node

    def _begins(self, call: ast.Call) -> bool:
        """Whether a call begins a pass through a loader, and not through what goes on without end."""
        through = call.args[0] if call.args else getattr(call.func, "value", None)
        return (
            called(call, self.program) in _ITERATES and isinstance(through, ast.expr) and self.loops.is_loader(through)
        )

    def _seen_from(self, node: ast.Assign, iterator: ast.Name) -> bool:
        owner = owner_of(node, self.program)
        return isinstance(owner, ast.Module) or owner is owner_of(iterator, self.program)

    def _bounds(self, loop: Looping) -> Iterator[ast.expr]:
        """What the turns of a loop are counted to, there and in loops inside it that count the same."""
        if isinstance(loop, ast.While):
            outer = {ast.unparse(each) for each in _compared(loop.test)}
            for inner in (each for each in ast.walk(loop) if isinstance(each, ast.While)):
                yield from (each for each in _compared(inner.test) if ast.unparse(each) in outer)
            return
        for leaf in self.loops.leaves(loop.iter):
            if (
                isinstance(leaf, ast.Call)
                and called(leaf, self.program) in ("range", "trange")
                and len(leaf.args) in (1, 2)
            ):
                yield leaf.args[-1]

    def counts_own(self, bound: ast.expr, sampled: set[ast.Call]) -> bool:
        """Whether a number is computed from the length of loaders that have the batches of one rank."""
        for source in (*ast.walk(bound), *self.program.sources(bound)):
            if isinstance(source, ast.Call) and called(source, self.program) == "len" and source.args:
                makers = self.loops.makers(source.args[0])
                if makers and makers <= sampled:
                    return True
        return False


def _counted(loop: ast.For, program: Program) -> set[str]:
    """What counts the turns of a loop: by `enumerate`, or by an addition that each turn makes."""
    found = {
        ast.unparse(each.target)
        for each in loop.body
        if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add)
        if isinstance(each.value, ast.Constant) and each.value.value == 1
    }
    if isinstance(loop.target, ast.Tuple) and isinstance(loop.iter, ast.Call):
        inner = [each for each in ast.walk(loop.iter) if isinstance(each, ast.Call)]
        if any(called(each, program) == "enumerate" for each in inner) and isinstance(loop.target.elts[0], ast.Name):
            found.add(loop.target.elts[0].id)
    return found


def _limits(test: ast.expr, counted: set[str]) -> Iterator[ast.expr]:
    """The numbers that a condition compares counters with, or counters and a number."""
    for each in ast.walk(test):
        if isinstance(each, ast.Compare) and len(each.ops) == 1 and not isinstance(each.ops[0], ast.Is | ast.In):
            sides = [each.left, each.comparators[0]]
            for side, other in (sides, sides[::-1]):
                begins = side.left if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Add) else side
                if ast.unparse(begins) in counted:
                    yield other


def _compared(test: ast.expr) -> list[ast.expr]:
    """The numbers that counters are compared with."""
    compares = [each for each in ast.walk(test) if isinstance(each, ast.Compare) and len(each.ops) == 1]
    return [each.comparators[0] for each in compares if isinstance(each.ops[0], ast.Lt | ast.LtE)]
