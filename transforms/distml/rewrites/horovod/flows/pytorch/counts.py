"""Loops that count turns and draw a batch in each by `next`: a rank has fewer batches, and would run out of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.flows.pytorch.loops import Loops, Use
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import LOOPS, Looping, block_of, owner_of
from distml.training.callsites import called

_TURNS = Note(
    "turns for the batches of this rank", "a rank that asks for more than its share would find none", "fewer-steps"
)
_ITERATES = ("iter", "enumerate", "__iter__")


class Counts:
    """Plans the numbers of turns of loops that draw from an iterator which is made anew in front of them."""

    def __init__(self, study: Study, plan: Plan, loops: Loops) -> None:
        self.study, self.plan, self.loops, self.program = study, plan, loops, study.program
        self._asked: set[ast.expr] = set()

    def fewer(self, use: Use, sampled: set[ast.Call]) -> None:
        """Ask for the turns of the loop that draws; `sampled` loaders have only the batches of a rank, and a length to suit."""
        loop = self._loop(use)
        if loop is None:
            return
        for bound in self._bounds(loop):
            if bound not in self._asked and not self.counts_own(bound, sampled):
                self._asked.add(bound)
                self.study.shortened.add(loop)
                self.plan.patch(bound).wrap(bound, f"{{}} // {self.plan.world(bound).size}", _TURNS)
                self._last(loop, bound)

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


def _compared(test: ast.expr) -> list[ast.expr]:
    """The numbers that counters are compared with."""
    compares = [each for each in ast.walk(test) if isinstance(each, ast.Compare) and len(each.ops) == 1]
    return [each.comparators[0] for each in compares if isinstance(each.ops[0], ast.Lt | ast.LtE)]
