"""What part of the data a rank has in a loop over loaders, and which numbers count that part."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.flows.pytorch.loops import Use
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import Looping, owner_of
from distml.training.callsites import called


class Shares:
    """Answers for the loaders of one program."""

    def __init__(self, plan: Plan, loaders: Loaders, sharded: set[ast.AST]) -> None:
        self.plan, self.loaders, self.loops, self.program = plan, loaders, loaders.loops, plan.program
        self.study, self.sharded = loaders.study, sharded

    def known(self, loop: Looping) -> bool:
        """Whether it is known what part of the data a rank has in a loop."""
        return self._part(loop) != ""

    def factor(self, loop: Looping, at: ast.AST) -> str:
        """By what the mean over the ranks of a sum becomes the sum over all data, as it is written where `at` stands.

        Where a loop goes through loaders of training and others, only the loader tells which of them it is.
        """
        part, here = self._part(loop), owner_of(at, self.program) is owner_of(loop, self.program)
        if part == "equal" or (part == "prepared" and not here):
            return self.plan.world(at).size
        if not here or not part:
            return ""
        if part == "phase":
            return f"({self.plan.world(loop).size} if {self.study.phases[loop]} else 1)"
        (use,) = self._uses(loop)
        name = ast.unparse(use.iterable)
        return f"(len({name}.dataset) / {self.loaders.samples.number(use.iterable, name, use.makers)})"

    def _uses(self, loop: Looping) -> list[Use]:
        return [use for use in (*self.loops.training, *self.loops.others) if use.drawn is loop]

    def _part(self, loop: Looping) -> str:
        """What tells the part of a rank: that all have `equal` parts, the `phase`, or the loader, which fills up its batches if
        it is `prepared`; nothing where it is not known.
        """
        uses, sampled = self._uses(loop), self.loaders.sampled
        if loop in self.study.phases:
            return "phase"
        if not uses or loop not in self.sharded or any(isinstance(use.iterable, ast.Subscript) for use in uses):
            return ""
        prepared = any(use.makers & self.loops.prepared for use in uses)
        if not prepared and all(use.makers <= sampled or not use.makers & sampled for use in uses):
            return "equal"
        told = len(uses) == 1 and isinstance(uses[0].iterable, ast.Name | ast.Attribute)
        told = told and self.loops.is_loader(uses[0].iterable)
        return ("prepared" if prepared else "loader") if told else ""

    def own(self, count: ast.expr) -> bool:
        """Whether a number is computed from a length that counts the batches or samples of a rank only."""
        for source in (*walk(count), *self.program.sources(count)):
            if isinstance(source, ast.Call) and called(source, self.program) == "len" and source.args:
                if self.plan.may_change(source) and self.plan.patch(source).requests.expressions.get(source):
                    return True
                if self.loops.makers(source.args[0]) & (self.loaders.counted | self.study.parted):
                    return True
                of = source.args[0]  # a distributed sampler has the samples of a rank
                if isinstance(of, ast.Attribute) and of.attr in ("sampler", "batch_sampler"):
                    return bool(self.loops.makers(of.value) & self.loaders.sampled)
        return False
