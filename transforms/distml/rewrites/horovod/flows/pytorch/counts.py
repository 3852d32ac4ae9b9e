"""Loops that count turns and draw a batch in each by `next`: a rank has fewer batches, and would run out of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from distml.rewrites.horovod.aspects.intervals import bounds, counted, end_sooner, limits
from distml.rewrites.horovod.aspects.outputs import kind_of
from distml.rewrites.horovod.aspects.progress import showing
from distml.rewrites.horovod.aspects.spelling import quotient
from distml.rewrites.horovod.flows.pytorch.loops import Loops, Use
from distml.rewrites.horovod.flows.pytorch.samples import Samples
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, Looping, block_of, owner_of
from distml.training.callsites import called, is_range
from distml.training.counting import BARS, COUNTING_BARS
from distml.training.syntax import names_in, nodes_in, remainder_of

_TURNS = Note("as many iterations as this rank has batches", "asking for more would raise StopIteration", "fewer-steps")
_LIMIT = Note(
    "limit divided by the number of ranks",
    "an iteration of all ranks together uses the data of as many steps",
    "fewer-steps",
)
_ITERATES = ("iter", "enumerate", "__iter__")


class Counts:
    """Plans the numbers of turns of loops that draw from an iterator which is made anew in front of them."""

    def __init__(self, study: Study, plan: Plan, loops: Loops) -> None:
        self.study, self.plan, self.loops, self.program = study, plan, loops, study.program
        self.samples = Samples(study, plan, loops)
        self._asked: set[ast.expr] = set()

    def fewer(self, use: Use, sampled: set[ast.Call]) -> None:
        """Ask for the turns of the loop that draws; `sampled` loaders have only the batches of a rank, and a length to suit."""
        if isinstance(use.drawn, ast.For):
            self._limited(use.drawn, sampled)
            self._cut(use.drawn, sampled)
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
        """The limits at which training ends by the number of turns."""
        counters = counted(loop, self.program)
        for bound in limits(loop, counters, self.program):
            if bound not in self._asked and not self._own(bound, sampled):
                self._asked.add(bound)
                end_sooner(self.plan, bound, _LIMIT)
                self._in_epochs(loop, bound, sampled)
                self._told_of(self._shares(loop, bound, counters) if not isinstance(bound, ast.Constant) else ())
        for each in [*self._asked]:
            self._told_of(other for other in self._ends(loop, each) if other not in self._asked)

    def _in_epochs(self, loop: ast.For, bound: ast.expr, sampled: set[ast.Call]) -> None:
        """The same limit where it is told in epochs of a rank: `epochs = most // len(loader)`."""
        for each in nodes_in(owner_of(loop, self.program), ast.BinOp):
            same = isinstance(each.op, ast.Div | ast.FloorDiv) and ast.unparse(each.left) == ast.unparse(bound)
            if same and each.left not in self._asked and self.counts_own(each.right, sampled):
                self._asked.add(each.left)
                self.plan.patch(each.left).wrap(each.left, f"({{}} // {self.plan.world(each.left).size})", _LIMIT)

    def _cut(self, loop: ast.For, sampled: set[ast.Call]) -> None:
        """The number of batches after which what a loop goes through ends: `islice(loader, most)`, `zip(range(most), loader)`."""
        for call in nodes_in(loop.iter, ast.Call):
            name, within = called(call, self.program), self.program.parent(call)
            beside = called(within, self.program) == "zip"
            ends = call.args[1:3] if name == "islice" else call.args[:2] if name == "range" and beside else []
            for bound in ends[-2:]:
                number = isinstance(bound, ast.Constant) and bound.value in (None, 0)
                if not number and bound not in self._asked and not self._own(bound, sampled):
                    self._asked.add(bound)
                    end_sooner(self.plan, bound, _LIMIT)

    def endless(self, loops: set[ast.AST], sampled: set[ast.Call]) -> None:
        """Ask for the turns of loops that take a step in each, of batches that are drawn for as long as they are asked for."""
        inner = {each for each in loops if any(above in loops for above in self.program.ancestors(each))}
        for loop in sorted((each for each in loops - inner if isinstance(each, LOOPS)), key=lambda each: each.lineno):
            ends = [*self._bounds(loop)]
            if not ends and self._may_end(loop):
                what = "this loop keeps its iterations, which no number bounds: each rank takes as many steps as one process did"
                self.plan.warn("HVD303", loop, what, "end it after a part of them, or train for fewer epochs")
            for bound in ends:
                if bound in self._asked or self.counts_own(bound, sampled):
                    continue
                self._asked.add(bound)
                size = self.plan.world(bound).size
                if not self._only_counts(bound, loop):
                    self.study.undivided.add(loop)
                    what = f"this loop keeps its `{ast.unparse(bound)}` iterations: their number is used for more than its length"
                    self.plan.warn("HVD303", loop, what, f"divide the number, and what depends on it, by {size}")
                    continue
                self.study.shortened.add(loop)
                self.plan.patch(bound).wrap(bound, quotient(bound, size), _LIMIT)
                self._last(loop, bound)
                if isinstance(loop, ast.For):
                    self.samples.dealt(loop, {ast.unparse(bound)})

    def _may_end(self, loop: Looping) -> bool:
        """Whether a loop of unknown length goes on until something in it ends it, and not for ever."""
        if not isinstance(loop, ast.While):
            return False
        return not isinstance(loop.test, ast.Constant) or any(
            isinstance(each, ast.Break | ast.Return) for each in walk(loop)
        )

    def _only_counts(self, bound: ast.expr, loop: Looping) -> bool:
        """Whether a number says nothing but how many turns a loop takes, and their numbers nothing but when and where."""
        ends = self._ends(loop, bound)
        numbers = names_in(loop.target) if isinstance(loop, ast.For) else ()
        for each in nodes_in(loop, ast.Name):
            if each.id in numbers and isinstance(each.ctx, ast.Load):
                test = next((above for above in self.program.ancestors(each) if isinstance(above, ast.Compare)), None)
                if not self._now_and_then(each) and not any(end in ends for end in walk(test or each)):
                    return False
        text, divisors = ast.unparse(bound), {*self.samples.divisors(loop)}
        for use in walk(self.program.unit(bound).tree) if not isinstance(bound, ast.Constant) else ():
            if isinstance(use, ast.Name | ast.Attribute) and isinstance(use.ctx, ast.Load) and use is not bound:
                if ast.unparse(use) == text and use not in ends and use not in divisors:
                    if not self._told(use) or any(above in divisors for above in self.program.ancestors(use)):
                        return False
        return isinstance(bound, ast.Constant | ast.Name | ast.Attribute)

    def _now_and_then(self, number: ast.Name) -> bool:
        """Whether the number of a turn says when something is done (`i % 10 == 0`, `i > 0`) or names what is told or kept."""
        parent = self.program.parent(number)
        if isinstance(parent, ast.Compare) and len(parent.comparators) == 1:
            other = parent.comparators[0]
            return isinstance(other, ast.Constant) and other.value in (0, 1)
        around = (parent, *self.program.ancestors(parent)) if parent is not None else ()
        return self._told(number) or any(
            isinstance(each, ast.JoinedStr)
            or remainder_of(each) is not None
            or (called(each, self.program) in ("str", "format"))
            for each in around
        )

    def _told(self, node: ast.expr) -> bool:
        """Whether something is only printed or shown, or given to a schedule, which is shortened by itself."""
        calls = (each for each in self.program.ancestors(node) if isinstance(each, ast.Call))
        return any(
            kind_of(each, self.program) is not None
            or called(each, self.program) in BARS | COUNTING_BARS
            or any(name.startswith("torch.optim.lr_scheduler.") for name in self.program.names(each.func))
            for each in calls
        )

    def _own(self, bound: ast.expr, sampled: set[ast.Call]) -> bool:
        """Whether a limit is computed from the batches of a rank, or from its samples, as it is made to be elsewhere."""
        held = (each.value for each in nodes_in(bound, ast.Attribute) if each.attr == "dataset")
        return self.counts_own(bound, sampled) or any(self.loops.makers(each) & sampled for each in held)

    def _last(self, loop: Looping, bound: ast.expr) -> None:
        """The turn that is known as the last by its number, and the number of turns that is told beside that of one."""
        numbers = names_in(loop.target) if isinstance(loop, ast.For) else set[str]()
        self._told_of([*self._ends(loop, bound), *self._shares(loop, bound, numbers)])

    def _told_of(self, numbers: Iterable[ast.expr]) -> None:
        """Numbers of all iterations, where the number of one is known: those of a rank."""
        for each in numbers:
            whole = "({} // {})" if isinstance(self.program.parent(each), ast.BinOp) else "{} // {}"
            self.plan.patch(each).wrap(each, whole.format("{}", self.plan.world(each).size), _TURNS)

    def _shares(self, loop: Looping, bound: ast.expr, counters: set[str]) -> Iterator[ast.expr]:
        """Where an iteration is told as one of so many: `i / turns`, `f"{i} of {turns}"`."""
        for each in nodes_in(loop, type(bound)):
            above = self.program.parent(each)
            if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Div) and each is above.right:
                beside: ast.expr | None = above.left
            else:
                beside = showing(each, self.program) if not isinstance(above, ast.BinOp) else None
            parts = [part for part in walk(beside) if isinstance(part, ast.expr)] if beside is not None else []
            if counters.intersection(map(ast.unparse, parts)) and ast.unparse(each) == ast.unparse(bound):
                yield each

    def _ends(self, loop: Looping, bound: ast.expr) -> list[ast.expr]:
        """Where a turn is told to be the last, or so far from it: `if i + 1 == turns:`, `if i == turns - 1:`."""
        tests = nodes_in(loop, ast.Compare) if isinstance(loop, ast.For) else ()
        right = (each for test in tests if len(test.ops) == 1 for each in walk(test.comparators[0]))
        found = (each for each in right if isinstance(each, ast.expr) and not isinstance(each, ast.Constant))
        return [each for each in found if ast.unparse(each) == ast.unparse(bound)]

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
            for node in nodes_in(unit.tree, ast.Assign):
                if isinstance(node.value, ast.Call) and self._begins(node.value):
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
        """What the turns of a loop are counted to: there, where it is left, and in loops inside it that count the same."""
        numbers = counted(loop, self.program)
        for node in nodes_in(loop, ast.If):
            if any(isinstance(each, ast.Break | ast.Return) for each in node.body):
                yield from bounds(node.test, numbers)
        if isinstance(loop, ast.While):
            outer = {ast.unparse(each) for each in _compared(loop.test)}
            for inner in nodes_in(loop, ast.While):
                yield from (each for each in _compared(inner.test) if ast.unparse(each) in outer)
            return
        for leaf in self.loops.leaves(loop.iter):
            if is_range(leaf, self.program) and leaf.args:
                yield _number(leaf.args[:2])

    def counts_own(self, bound: ast.expr, sampled: set[ast.Call]) -> bool:
        """Whether a number is computed from the length of loaders that have the batches of one rank."""
        for source in (*walk(bound), *self.program.sources(bound)):
            if isinstance(source, ast.Call) and called(source, self.program) == "len" and source.args:
                makers = self.loops.makers(source.args[0])
                if makers and makers <= sampled:
                    return True
        return False


def _number(ends: list[ast.expr]) -> ast.expr:
    """How many iterations a range has, where that is said: `n` in `range(1, n + 1)`; else where it ends."""
    match ends:
        case [ast.Constant(value=begin), ast.BinOp(left=number, op=ast.Add(), right=ast.Constant(value=more))] if (
            begin == more
        ):
            return number
    return ends[-1]


def _compared(test: ast.expr) -> list[ast.expr]:
    """The numbers that counters are compared with."""
    compares = [each for each in nodes_in(test, ast.Compare) if len(each.ops) == 1]
    return [each.comparators[0] for each in compares if isinstance(each.ops[0], ast.Lt | ast.LtE)]
