"""The intervals of PyTorch's loops over divided data, at which they evaluate and save."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from distml.rewrites.horovod.aspects import intervals, named
from distml.rewrites.horovod.aspects.intervals import added, counted, numbered, remainder_by
from distml.rewrites.horovod.aspects.outputs import checkpoint
from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import LOOPS, Looping, own_nodes, owner_of
from distml.training.syntax import nodes_in, remainder_of, size_of

_PACE = Note(
    "iteration count times the number of ranks",
    "a rank takes fewer iterations, and what is computed from their number would be delayed",
    "fewer-steps",
)
_SAMPLES = Note(
    "samples of all ranks",
    "a rank counts its own part of the data; a limit on how many there were is one on all of them",
    "own-samples",
)
_JUDGES = frozenset({"torch.no_grad", "torch.inference_mode"})


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
                names = numbered(loop, counted(loop, self.program), self.program)
                intervals.shorten(self.plan, loop, names, self._only_judges, self._own)
                named.told(self.plan, loop, names)

    def keep_pace(self) -> None:
        """Ask for the iterations of all ranks where the loss is weighted by how many there were: each rank takes fewer."""
        for loop in {use.drawn for use in self.loaders.loops.training if use.drawn in self.sharded}:
            if isinstance(loop, LOOPS):
                for number in self._paces(loop, {*added(loop)} - set(self._begun_anew(loop))):
                    self.plan.patch(number).wrap(number, f"({{}} * {self.plan.world(number).size})", _PACE)

    def count_samples(self, uniform: Uniform) -> None:
        """Ask for the samples of all ranks where a loop counts them up to a limit: each rank goes through its part of them."""
        passes = {use.drawn for use in self.loaders.loops.training if use.drawn in self.sharded} | self.study.shortened
        for loop in (each for each in passes if isinstance(each, LOOPS)):
            compared = {ast.unparse(each) for test in nodes_in(loop, ast.Compare) for each in nodes_in(test, ast.expr)}
            quotients = (
                each for each in nodes_in(owner_of(loop, self.program), ast.BinOp) if isinstance(each.op, ast.Div)
            )
            divided = {ast.unparse(part) for each in quotients for part in (each.left, each.right)}
            for node in own_nodes(loop, ast.AugAssign):
                text = ast.unparse(node.target)
                if (
                    isinstance(node.op, ast.Add)
                    and text in compared
                    and text not in divided
                    and uniform.holds(node.value)
                ):
                    if self._counts_samples(node.value):
                        self.plan.patch(node.value).wrap(node.value, f"{{}} * {self.plan.world(node).size}", _SAMPLES)

    def _counts_samples(self, value: ast.expr) -> bool:
        """Whether a number is how many samples a batch has: `len(x)`, `x.size(0)`, `x.shape[0]`, also through a variable."""
        made = self.loaders.loops.assigned(value) if isinstance(value, ast.Name) else [value]
        sizes = [size_of(each) for each in made]
        return bool(sizes) and all(each is not None and each[1] == 0 for each in sizes)

    def _begun_anew(self, loop: Looping) -> Iterator[str]:
        """What the loops around a loop set anew."""
        for above in (each for each in self.program.ancestors(loop) if isinstance(each, LOOPS)):
            for node in nodes_in(above, ast.Assign):
                yield from (ast.unparse(each) for each in node.targets if isinstance(node.value, ast.Constant))

    def _paces(self, loop: Looping, names: set[str]) -> Iterator[ast.expr]:
        """Where numbers of iterations are scaled to something of which the loss is made."""
        for node in own_nodes(loop):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                if ast.unparse(node) in names and self._scaled(node) and TRAINING in purposes(node, self.program):
                    yield node

    def _scaled(self, number: ast.expr) -> bool:
        """Whether a number is multiplied or divided, and not asked for its remainder or compared."""
        around = [*takewhile(lambda each: not isinstance(each, ast.stmt), self.program.ancestors(number))]
        if any(isinstance(each, ast.Compare | ast.Subscript | ast.JoinedStr) for each in around):
            return False
        kinds = {type(each.op) for each in around if isinstance(each, ast.BinOp)}
        return not any(map(remainder_of, around)) and bool({ast.Mult, ast.Div, ast.Pow} & kinds)

    def _own(self, interval: ast.expr) -> bool:
        """Whether an interval counts the batches of a rank already, or those of a step: which it may be by a loop's branches."""
        if self.loaders.counts.counts_own(interval, self.loaders.counted):
            return True
        remainder = remainder_by(interval, self.program)
        return remainder is not None and ast.unparse(remainder) in self._stepped(interval)

    def _stepped(self, node: ast.expr) -> Iterator[str]:
        """The conditions of the branches that train, in the loop around a node, and their parts."""
        loop = self.study.loop(node)
        for branch in nodes_in(loop, ast.If) if loop is not None else ():
            if self.study.training.holds_any(branch.body):
                yield from map(ast.unparse, nodes_in(branch.test, ast.expr))

    def _only_judges(self, branch: ast.If) -> bool:
        return self.judging.holds_any(branch.body) and not self.study.training.holds_any(branch.body)
