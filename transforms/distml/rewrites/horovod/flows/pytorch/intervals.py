"""The intervals of PyTorch's loops over divided data, at which they evaluate and save."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects import intervals
from distml.rewrites.horovod.aspects.intervals import counted, numbered
from distml.rewrites.horovod.aspects.outputs import checkpoint
from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.plan import Plan
from distml.training.around import LOOPS

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

    def _own(self, interval: ast.expr) -> bool:
        return self.loaders.counts.counts_own(interval, self.loaders.sampled)

    def _only_judges(self, branch: ast.If) -> bool:
        return self.judging.holds_any(branch.body) and not self.study.training.holds_any(branch.body)
