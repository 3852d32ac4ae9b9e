"""What part of the data a rank has in a loop over loaders, and which numbers count that part."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.flows.pytorch.loops import Use
from distml.rewrites.horovod.plan import Plan
from distml.training.around import Looping
from distml.training.callsites import called


class Shares:
    """Answers for the loaders of one program."""

    def __init__(self, plan: Plan, loaders: Loaders, sharded: set[ast.AST]) -> None:
        self.plan, self.loaders, self.loops, self.program = plan, loaders, loaders.loops, plan.program
        self.study, self.sharded = loaders.study, sharded

    def factor(self, loop: Looping) -> str:
        """By what the mean over the ranks of a sum becomes the sum over all data.

        Where a loop goes through loaders of training and others, only the loader tells which of them it is.
        """
        if loop in self.study.phases:
            return f"({self.plan.world(loop).size} if {self.study.phases[loop]} else 1)"
        uses = [use for use in self.loops.training if use.drawn is loop]
        if not uses or loop not in self.sharded or any(isinstance(use.iterable, ast.Subscript) for use in uses):
            return ""
        if all(use.makers <= self.loaders.sampled or not use.makers & self.loaders.sampled for use in uses):
            return self.plan.world(loop).size
        return self._ratio(uses[0]) if len(uses) == 1 else ""

    def _ratio(self, use: Use) -> str:
        name = ast.unparse(use.iterable) if isinstance(use.iterable, ast.Name | ast.Attribute) else ""
        return f"(len({name}.dataset) / len({name}.sampler))" if name and self.loops.is_loader(use.iterable) else ""

    def own(self, count: ast.expr) -> bool:
        """Whether a number is computed from the length of a loader that has only the batches of a rank."""
        for source in (*ast.walk(count), *self.program.sources(count)):
            if isinstance(source, ast.Call) and called(source, self.program) == "len" and source.args:
                if self.loops.makers(source.args[0]) & (self.loaders.sampled | self.study.parted):
                    return True
        return False
