"""What a loop does every so many turns: evaluating and saving come as often in an epoch as they did.

A turn of all ranks together goes through as much data as several turns of one process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.outputs import checkpoint
from distml.rewrites.horovod.flows.pytorch.counts import counted
from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import LOOPS, Looping

_OFTEN = Note(
    "as often in an epoch",
    "a rank takes fewer turns in an epoch than one process, each of them of more data",
    "fewer-steps",
)
_JUDGES = frozenset({"torch.no_grad", "torch.inference_mode"})
_NUMBERS = (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)


class Intervals:
    """Plans the intervals of loops over divided data; `sharded` are these loops."""

    def __init__(self, plan: Plan, loaders: Loaders, sharded: set[ast.AST]) -> None:
        self.plan, self.program, self.loaders, self.sharded = plan, plan.program, loaders, sharded
        study = self.study = loaders.study
        saving = [
            each
            for each in self.program.calls
            if checkpoint(each, self.program) or self.program.names(each.func) & _JUDGES
        ]
        others = (each for each in loaders.loops.others if each.makers or loaders.loops.is_data(each.iterable))
        self.judging = study.reach([*(each.drawn for each in others), *saving])

    def shorten(self) -> None:
        """Ask for shorter intervals of what evaluates and saves, and trains nothing."""
        turned = {use.drawn for use in self.loaders.loops.training if use.drawn in self.sharded} | self.study.shortened
        for loop in turned:
            if isinstance(loop, LOOPS) and loop not in self.study.phases:
                names = self._numbered(loop)
                for branch in (each for each in ast.walk(loop) if isinstance(each, ast.If)):
                    for interval in _intervals(branch.test, names) if self._only_judges(branch) else ():
                        if not self.loaders.counts.counts_own(interval, self.loaders.sampled):
                            self._shorten(interval, branch, loop)

    def _numbered(self, loop: Looping) -> set[str]:
        """The variables that count the turns of a loop, or are computed from those that do."""
        names = counted(loop, self.program)
        for node in ast.walk(loop):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                if isinstance(node.value, ast.BinOp) and names & {ast.unparse(each) for each in ast.walk(node.value)}:
                    names.add(node.targets[0].id)
        return names

    def _only_judges(self, branch: ast.If) -> bool:
        return self.judging.holds_any(branch.body) and not self.study.training.holds_any(branch.body)

    def _shorten(self, interval: ast.expr, branch: ast.If, loop: Looping) -> None:
        """The interval, and what else counts by it: the last turn of one, a mean over one, how many there were."""
        for each in self._same(interval, branch, loop):
            patch, within = self.plan.patch(each), isinstance(self.program.parent(each), ast.BinOp)
            code = f"max(1, {{}} // {self.plan.world(each).size})"
            if not patch.requests.expressions.get(each):
                patch.wrap(each, code if within or each is interval else f"({code})", _OFTEN)

    def _same(self, interval: ast.expr, branch: ast.If, loop: Looping) -> Iterator[ast.expr]:
        """The places at which the interval is read, those of a number that is written out only where it divides."""
        yield interval
        number = isinstance(interval, ast.Constant)  # written out, it may be another number elsewhere
        for node in ast.walk(branch if number else loop):
            if isinstance(node, ast.expr) and node is not interval and ast.unparse(node) == ast.unparse(interval):
                above = self.program.parent(node)
                divides = isinstance(above, ast.BinOp | ast.AugAssign) and isinstance(
                    above.op, ast.Div | ast.FloorDiv | ast.Mod
                )
                if not number or (divides and node in (getattr(above, "right", None), getattr(above, "value", None))):
                    if isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                        yield node


def _intervals(test: ast.expr, names: set[str]) -> Iterator[ast.expr]:
    """What the numbers of turns are divided by: `i % every == 0`, `(step + 1) % every == 0`, `not i % every`."""
    for node in ast.walk(test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            if names & {ast.unparse(each) for each in ast.walk(node.left) if isinstance(each, ast.expr)}:
                if all(isinstance(each, _NUMBERS) for each in ast.walk(node.right)) and not _is_one(node.right):
                    yield node.right


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1
