"""How far a pass has come: what tells how much there is in all counts the part of the rank, as what counts the turns does.

In a loop whose batches are dealt out the length of the loader is that of all ranks: the last turn is no longer known by it,
nor is an epoch told as a fraction. A sampler shortens its loader, and the data set stays as long as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from distml.rewrites.horovod.aspects.progress import asked, divide, showing
from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.flows.pytorch.loops import Use
from distml.rewrites.horovod.flows.pytorch.samples import length
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.bindings import last_name
from distml.source.nodes import walk
from distml.training.callsites import argument, called
from distml.training.counting import BARS, RANGES
from distml.training.syntax import nodes_in

_ALL = Note("number of all samples", "a distributed sampler counts those of its rank", "own-samples")


class Progress:
    """Plans what loops over divided data tell of their length; `sharded` are these loops."""

    def __init__(self, plan: Plan, loaders: Loaders, sharded: set[ast.AST]) -> None:
        self.plan, self.program, self.loaders, self.sharded = plan, plan.program, loaders, sharded
        self.study, self.samples = loaders.study, loaders.samples

    def tell(self) -> None:
        """Ask for the numbers of this rank in loops and their bars."""
        for use in self.loaders.loops.training:
            if isinstance(use.drawn, ast.For) and use.drawn in self.sharded and use.drawn not in self.study.phases:
                dealt = not (use.makers and use.makers <= self.loaders.sampled)
                self._divide(each for each in self._numbers(use.drawn) if self._is_whole(each, use, dealt))
        for places in self.study.dealt:
            self._divide(each for each in self._quotients(places) if showing(each, self.program) is not None)
        for call in self.program.calls:
            data = length(call)
            if isinstance(data, ast.Attribute) and data.attr == "sampler" and self._is_whole_sampler(call, data.value):
                self.plan.patch(data).wrap(data, f"{ast.unparse(data.value)}.dataset", _ALL)
            total = argument(call, 2, "total") if called(call, self.program) in BARS else None
            if total is not None and argument(call, 0, "iterable") is None and self._advanced(call):
                self._divide([] if self.loaders.counts.counts_own(total, self.loaders.counted) else [total])

    def _divide(self, numbers: Iterable[ast.expr]) -> None:
        """Ask for the numbers of this rank, once."""
        for each in numbers:
            if not asked(self.plan, each):
                divide(self.plan, each)

    def _is_whole_sampler(self, number: ast.expr, loader: ast.expr) -> bool:
        """Whether the length of a sampler is shown as that of all the data: not in a pass, beside the samples of a rank."""
        divided = self.loaders.loops.makers(loader) & self.loaders.sampled
        within = self.study.loops_of(number) & (self.study.shortened | self.sharded)
        above = self.program.parent(number)
        divides = isinstance(above, ast.BinOp) and not isinstance(above.op, ast.Mod)  # a sum of a rank's samples
        return bool(divided) and not within and not divides and showing(number, self.program) is not None

    def _quotients(self, places: ast.AST) -> Iterator[ast.BinOp]:
        """The quotients of the end by the step, in a loop over a range that is dealt out: how many batches there are."""
        given = places.args if isinstance(places, ast.Call) and last_name(places.func) in RANGES else []
        loop = next((each for each in self.program.ancestors(places) if isinstance(each, ast.For)), None)
        for each in nodes_in(loop, ast.BinOp) if len(given) == 3 and loop is not None else ():
            sides = [ast.unparse(each.left), ast.unparse(each.right)]
            if isinstance(each.op, ast.Div | ast.FloorDiv) and sides == [*map(ast.unparse, given[1:])]:
                yield each

    def _numbers(self, loop: ast.For) -> Iterator[ast.expr]:
        """The lengths, and the variables that may hold one, which are read in a loop and where it begins."""
        for part in (loop.iter, *loop.body):
            for node in walk(part):
                measures = (
                    isinstance(node, ast.Call) and length(node) is not None and called(node, self.program) != "float"
                )
                reads = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
                if isinstance(node, ast.expr) and (measures or reads):
                    yield node

    def _is_whole(self, number: ast.expr, use: Use, dealt: bool) -> bool:
        """Whether a number counts what all ranks go through together, where it should count the part of one."""
        made = self.loaders.loops.assigned(number) if isinstance(number, ast.Name) else [number]
        if len(made) != 1 or not isinstance(made[0], ast.Call):
            return False
        data = length(made[0])
        several = made[0].args if called(made[0], self.program) in ("min", "max") else made
        measured = [ast.unparse(each) for each in map(length, several) if each is not None]
        if dealt and len(measured) == len(several) and ast.unparse(use.iterable) in measured:
            return not self.loaders.counts.counts_own(number, self.loaders.counted)
        if isinstance(data, ast.Attribute) and data.attr == "dataset" and self.loaders.loops.makers(data.value):
            return showing(number, self.program) is not None and self.loaders.loops.makers(data.value) == use.makers
        return showing(number, self.program) is not None and self.samples.is_length(number, use)

    def _advanced(self, bar: ast.Call) -> bool:
        """Whether a bar is told of its progress in a loop over divided data."""
        updates = (each for each in self.program.calls if isinstance(each.func, ast.Attribute))
        return any(
            called(each, self.program) == "update"
            and any(getattr(value, "node", None) is bar for value in self.program.of(each.func.value))
            and self.study.loops_of(each, innermost=True) & (self.study.shortened | self.sharded)
            for each in updates
            if isinstance(each.func, ast.Attribute)
        )
