"""Data loaders of training: every rank draws its own part of the data, in equally many batches.

A loader that only training uses gets a `DistributedSampler`, or is prepared by accelerate. Where that cannot be said at the
loader (it has a sampler of its own, or the same call makes the loader of an evaluation), the loop takes its share of the
batches instead.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.dealing import deal
from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.rewrites.horovod.flows.pytorch.counts import Counts
from distml.rewrites.horovod.flows.pytorch.loops import Loops, Use
from distml.rewrites.horovod.flows.pytorch.orders import Orders
from distml.rewrites.horovod.flows.pytorch.samplers import SHARDED, Samplers
from distml.rewrites.horovod.flows.pytorch.samples import Samples
from distml.rewrites.horovod.flows.pytorch.study import Study, branches
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS
from distml.training.callers import run_from
from distml.training.callsites import argument, called, positional
from distml.training.syntax import is_false, is_literal, names_in, nodes_in, place_of
from distml.training.values import Box, Foreign

_EPOCH = Note(
    "order of this epoch",
    "the sampler shuffles by epoch number: without it every epoch has the same order",
    "set-epoch",
)
_SHARE = Note(
    "every rank takes its share of the batches",
    "without it all ranks see the same batches; the remainder is dropped so that all ranks take the same number of steps",
    "share-batches",
)
_PART = Note("batches of this rank", "every rank takes its share of the batches", "share-batches")
_FEWER = Note("fewer batches for each rank", "all ranks together draw as many as one process did", "fewer-steps")


class Loaders:
    """Plans the data loaders that training goes through."""

    def __init__(self, study: Study, plan: Plan, loops: Loops) -> None:
        self.study, self.plan, self.loops = study, plan, loops
        self.program = study.program
        self.counts = Counts(study, plan, loops)
        self.samples = Samples(study, plan, loops)
        self.orders = Orders(study, plan)
        self.samplers = Samplers(plan, loops, self.orders)
        self.sampled: set[ast.Call] = set()
        """Loaders that give a rank's part only, and have its length."""
        self.counted: set[ast.Call] = set()
        """Those, and loaders whose batches are dealt out in all of their loops: what asks for their length is told a part."""
        self.together: set[str] = set()
        """The global generators by which what loops deal out is shuffled: they must be alike on all ranks."""

    def shard(self) -> set[ast.AST]:
        """Ask for the sharding of all loaders of training; gives the loops whose data is sharded."""
        evaluated = {maker for use in self.loops.others for maker in use.makers}
        training = [use for use in self.loops.training if not self._glances(use, evaluated)]
        uses = [(use, self._of_training(sorted(use.makers, key=place_of)), self._phase(use)) for use in training]
        plain = [(use, makers) for use, makers, phase in uses if phase is None]
        self.samplers.anew |= {each for use, makers in plain for each in makers if self._made_anew(use, each)}
        self._sample([{*makers} for _, makers in plain], evaluated)
        divided = [each for each in uses if self._divided(*each)]
        dealt = [use for use, makers, phase in divided if not makers or not (phase or self.sampled >= {*makers})]
        self._count(dealt)
        for use, makers, phase in divided:
            if not phase or not makers:
                self.counts.fewer(use, self.counted)
                if use not in dealt:
                    self.samples.summed(use)
        for use in self.loops.passing:
            if use.makers and self.sampled >= use.makers:
                self._set_epoch(use, set(use.makers))
        self.samples.counted(self.sampled)
        return {use.drawn for use, _, _ in divided}

    def _count(self, dealt: list[Use]) -> None:
        """Ask for the part of a rank where the length of loaders is asked for that are `dealt` out in all of their loops."""
        others = (use for use in (*self.loops.training, *self.loops.others, *self.loops.passing) if use not in dealt)
        self.counted = {maker for use in dealt for maker in use.makers} - {
            maker for use in others for maker in use.makers
        }
        for call in self.program.calls if self.counted else ():
            makers = (
                self.loops.makers(call.args[0]) if called(call, self.program) == "len" and call.args else frozenset()
            )
            if makers and makers <= self.counted:
                self._part(call)
        for use in dealt:
            text, told = ast.unparse(use.iterable), use.makers and use.makers <= self.counted
            if isinstance(use.drawn, ast.For):
                self.samples.dealt(use.drawn, {f"len(list({text}))"} | (set() if told else {f"len({text})"}))
        self.counted |= self.sampled

    def _part(self, length: ast.Call) -> None:
        code = f"{{}} // {self.plan.world(length).size}"
        within = isinstance(self.program.parent(length), ast.BinOp | ast.UnaryOp)
        self.plan.patch(length).wrap(length, f"({code})" if within else code, _PART)

    def _sample(self, together: list[set[ast.Call]], evaluated: set[ast.Call]) -> None:
        """Give loaders distributed samplers: all those that one loop goes through, or none of them."""
        prepares = self.plan.options.backend == "accelerate"
        asked = sorted({*itertools.chain(*together)}, key=place_of)
        asked = [each for each in asked if not (each in evaluated and self.study.repeated(each))]
        ways = {each: way for each in asked if (way := self.samplers.way(each, prepares)) is not None}
        sampled = {*ways}
        while partly := [each & sampled for each in together if each & sampled and not each <= sampled]:
            sampled -= set[ast.Call]().union(*partly)
        self.sampled = sampled
        for maker, way in ways.items():
            if maker in sampled:
                way()

    def _divided(self, use: Use, makers: list[ast.Call], phase: tuple[str, str] | None) -> bool:
        """Ask for the part of a rank in one loop; whether it can be given one."""
        sampled = bool(makers) and self.sampled >= {*makers}
        if phase is not None and makers:
            self._of_phase(use, phase)
            return True
        if sampled:
            self._set_epoch(use, set(makers))
            return True
        return self._share(use, makers)

    def judging(self) -> Iterator[tuple[ast.AST, bool]]:
        """The passes that train nothing through loaders which have the batches of a rank, and whether all their loaders have."""
        for use in self.loops.others:
            if use.makers & self.sampled and isinstance(use.drawn, ast.For | ast.comprehension):
                yield use.drawn, use.makers <= self.sampled

    def _glances(self, use: Use, evaluated: set[ast.Call]) -> bool:
        """Whether one batch is taken from what is gone through elsewhere without training, and not trained on here either."""
        if not isinstance(use.drawn, ast.Call) or not use.makers or not use.makers <= evaluated:
            return False
        statement, loop = self.program.statement(use.drawn), self.study.loop(use.drawn)
        if not isinstance(statement, ast.Assign) or not isinstance(loop, ast.For):
            return False
        if self._leaves_nothing(loop):
            return True
        given, anew = (
            {each.id for target in targets for each in nodes_in(target, ast.Name)}
            for targets in (statement.targets, [loop.target])
        )
        reads = [each for each in nodes_in(loop, ast.Name) if isinstance(each.ctx, ast.Load)]
        after = [each for each in reads if each.id in given and (each.lineno > statement.lineno or each.id not in anew)]
        return not any(TRAINING in purposes(each, self.program) for each in after)

    def _leaves_nothing(self, loop: ast.For) -> bool:
        """Whether what a loop within that of training computes goes into no step: it takes none, and its variables get other
        values in the next iteration before they are read."""
        around = (each for each in self.program.ancestors(loop) if isinstance(each, LOOPS))
        outer = next((each for each in around if self.study.training.holds(each)), None)
        if outer is None or self.study.training.holds(loop):
            return False
        inside = {*walk(loop)}
        stored = {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        others = [each for each in nodes_in(outer, ast.Name) if each not in inside]
        for name in stored:
            same = sorted((each for each in others if each.id == name), key=place_of)
            behind = [each for each in same if each.lineno > loop.lineno and isinstance(each.ctx, ast.Load)]
            if same and not self._begins_anew(same[0]):
                behind = [each for each in same if isinstance(each.ctx, ast.Load)]
            if any(TRAINING in purposes(each, self.program) for each in behind):
                return False
        return True

    def _begins_anew(self, name: ast.Name) -> bool:
        """Whether a variable is set by a statement that does not read it."""
        nodes = walk(self.program.statement(name))
        same = [each for each in nodes if isinstance(each, ast.Name) and each.id == name.id]
        return all(isinstance(each.ctx, ast.Store) for each in same)

    def _of_training(self, makers: list[ast.Call]) -> list[ast.Call]:
        """Where one loop goes through several loaders, those of which batches are trained on."""
        if len(makers) < 2:
            return makers
        kept = [maker for maker in makers if TRAINING in purposes(maker, self.program)]
        return kept or makers

    def shorten(self) -> set[ast.AST]:
        """Ask for loops that draw fewer batches, of all of the data; gives these loops."""
        shorter: set[ast.AST] = set()
        for use in self.loops.training:
            if isinstance(use.drawn, ast.For) and use.makers and isinstance(use.iterable, ast.Name | ast.Attribute):
                count = f"len({ast.unparse(use.iterable)}) // {self.plan.world(use.iterable).size}"
                code = f"(batch for batch, _ in zip({{}}, range({count})))"
                self.plan.patch(use.iterable).wrap(use.iterable, code, _FEWER)
                shorter.add(use.drawn)
        return shorter

    # The loop

    def _set_epoch(self, use: Use, makers: set[ast.Call]) -> None:
        """The sampler learns which epoch it is, where the loop over it begins."""
        wraps = bool(self.program.classes(use.iterable))  # an object of the program that goes through something
        if (
            not (makers & self.samplers.shuffled) - self.samplers.anew
            or not self._is_named(use)
            or (wraps and use not in self.loops.passing)
        ):
            return
        statement = self._begins(use)
        if statement is None or self._once(statement):
            return
        sampler = f"{ast.unparse(use.iterable)}.sampler"
        epoch = self.loops.epoch(statement) or f"{sampler}.epoch + 1"
        code = f"{sampler}.set_epoch({epoch})"
        if wraps:
            code = f'if hasattr(getattr({ast.unparse(use.iterable)}, "sampler", None), "set_epoch"):\n    {code}'
        elif use.makers - self.samplers.shuffled:
            code = f'if hasattr({sampler}, "set_epoch"):\n    {code}'
        self.plan.patch(statement).before(statement, code, _EPOCH)

    def _made_anew(self, use: Use, maker: ast.Call) -> bool:
        """Whether a loader serves one epoch only, and nothing at hand says which: its sampler cannot be told.

        A new sampler always begins with the order of epoch 0, so each takes another seed, the same one on all ranks.
        """
        statement = self._begins(use)
        if statement is None or (self._is_named(use) and self.loops.epoch(statement) is not None):
            return False
        epochs = self.study.loops_of(statement, innermost=True)
        return bool(epochs) and epochs <= self.study.loops_of(maker)

    def _is_named(self, use: Use) -> bool:
        return isinstance(use.iterable, ast.Name | ast.Attribute | ast.Subscript) and self.loops.is_loader(use.iterable)

    def _once(self, statement: ast.stmt) -> bool:
        """Whether the program goes through the data only once: there is no other epoch."""
        called = self.program.function(statement) is None or bool(self.study.leading(statement))
        return called and not self.study.repeated(statement)

    def _begins(self, use: Use) -> ast.stmt | None:
        """The statement at which a pass through the data begins, where the iterable is already there."""
        statement = self.program.statement(use.iterable)
        if isinstance(use.iterable, ast.Name) and any(
            isinstance(n, ast.Name) and n.id == use.iterable.id and isinstance(n.ctx, ast.Store)
            for n in walk(statement)
        ):
            return statement if self._wrapped(statement, use.iterable) else None
        return statement

    def _wrapped(self, statement: ast.stmt, iterable: ast.Name) -> bool:
        """Whether a parameter is given a wrapper of itself, once: `loader = tqdm(loader)`; in front of it, it is the loader."""
        function = self.program.function(statement)
        if not isinstance(statement, ast.Assign) or not isinstance(function, ast.FunctionDef):
            return False
        looped = any(isinstance(above, LOOPS) for above in self.program.ancestors(statement))
        return iterable.id in positional(function) and not looped and len(self.loops.assigned(iterable)) == 1

    def _share(self, use: Use, makers: list[ast.Call]) -> bool:
        """The loop over an iterable takes every so-manieth of its items: of batches, not of loaders that a loop in it takes."""
        inner = (other for other in self.loops.training if other is not use and other.makers & use.makers)
        if any(use.drawn in self.program.ancestors(other.drawn) for other in inner):
            return False
        if isinstance(use.drawn, ast.For):
            if not self._takes_data(use, use.drawn) or (self.study.environment and not makers):
                return False
        elif not makers or not isinstance(self.program.parent(use.iterable), ast.Call):
            return False
        deal(self.plan, use.iterable, _SHARE)
        if not makers or any(not is_literal(argument(each, 8, "drop_last"), True) for each in makers):
            self.study.uneven.add(use.drawn)
        for maker in makers:
            data = argument(maker, 0, "dataset")
            self.together |= self.orders.agree(maker, data if data is not None and self.loops.streams(data) else None)
        if not makers:
            self.together |= self.orders.agree_on(use.iterable)
        if not makers and not self.orders.heard(use.iterable):
            text = ast.unparse(use.iterable)
            what = f"`{text}` is divided among the ranks: correct if all see the same items in the same order"
            instead = "seed what shuffles it alike on all ranks"
            self.plan.warn("HVD302", self.program.statement(use.drawn), what, instead)
        return True

    def _takes_data(self, use: Use, loop: ast.For) -> bool:
        """Whether a loop goes through samples: it is the innermost that does, around a step."""
        if use.makers:
            return True
        drawn = {other.drawn for other in self.loops.training if other.makers}
        if any(above in drawn for above in self.program.ancestors(loop)):
            return False
        if not all(self.loops.is_data(leaf) for leaf in self.loops.leaves(loop.iter)):
            return False
        inner = [each for each in nodes_in(loop, ast.For) if each is not loop]
        if any(
            self.study.training.holds_any(each.body) and self.loops.is_data(leaf)
            for each in inner
            for leaf in self.loops.leaves(each.iter)
        ):
            return False
        steps = [*self.study.backwards, *(step.call for step in self.study.steps)]
        return any(loop in self.program.ancestors(each) for each in steps) or self._hands_on(loop)

    def _hands_on(self, loop: ast.For) -> bool:
        """Whether what a loop goes through is handed to functions that train on it, and go through nothing for that."""
        reads = [each for part in loop.body for each in nodes_in(part, ast.Name) if isinstance(each.ctx, ast.Load)]
        given = [each for each in reads if each.id in names_in(loop.target)]
        if not any(TRAINING in purposes(each, self.program) for each in given):
            return False
        inside = (each for function in run_from(loop.body, self.program) for each in walk(function))
        return not any(isinstance(each, LOOPS) and self.study.training.holds(each) for each in inside)

    # Phases

    def _phase(self, use: Use) -> tuple[str, str] | None:
        """The variable and its value under which a loop trains, where it also evaluates: `if phase == "train":`."""
        if not isinstance(use.iterable, ast.Subscript) or not isinstance(use.iterable.slice, ast.Name):
            return None
        name = use.iterable.slice.id
        for node in [*(step.call for step in self.study.steps), *self.study.backwards]:
            for branch in branches(self.program, node, None):
                found = self._compared(branch.test, name) if isinstance(branch, ast.If) else None
                if found is not None:
                    return name, found
        return None

    def _compared(self, test: ast.expr, name: str) -> str | None:
        """The text that a variable has where a condition holds, which may have a name of its own."""
        if isinstance(test, ast.Name):
            made = self.loops.assigned(test)
            test = made[0] if len(made) == 1 else test
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and len(test.ops) == 1:
            left, right = test.left, test.comparators[0]
            if isinstance(left, ast.Constant):
                left, right = right, left
            if isinstance(left, ast.Name) and left.id == name and isinstance(right, ast.Constant):
                return right.value if isinstance(right.value, str) else None
        return None

    def _of_phase(self, use: Use, phase: tuple[str, str]) -> None:
        """Only the loader of the training phase is sharded."""
        name, value = phase
        assert isinstance(use.iterable, ast.Subscript)
        boxes = [each for each in self.program.of(use.iterable.value) if isinstance(each, Box)]
        condition = f'{name} == "{value}"'
        self.study.phases[use.drawn] = condition
        for box in boxes:
            own = {v.node for v in self.program.store.item(box, value) if isinstance(v, Foreign)}
            all_of = {v.node for v in self.program.store.item(box) if isinstance(v, Foreign)}
            if isinstance(box.node, ast.DictComp) and isinstance(box.node.key, ast.Name):
                self._conditional(box.node, value)
            elif own != all_of:
                for maker in own:
                    if isinstance(maker, ast.Call):
                        self._way_or_nothing(maker)
            else:
                deal(self.plan, use.iterable, _SHARE, condition)
                size = self.plan.world(use.iterable).size
                self.samples.of_phase(use, name, f"({{}} / {size} if {condition} else {{}})")
                return
        self.samples.of_phase(use, name)
        self.study.parted |= use.makers
        statement, sampler = self.program.statement(use.iterable), f"{ast.unparse(use.iterable)}.sampler"
        epoch = self.loops.epoch(statement)
        outer = epoch if epoch != name else None
        code = f"if {condition}:\n    {sampler}.set_epoch({outer or f'{sampler}.epoch + 1'})"
        self.plan.patch(statement).before(statement, code, _EPOCH)

    def _way_or_nothing(self, maker: ast.Call) -> None:
        way = self.samplers.way(maker, prepares=False)
        if way is not None:
            way()

    def _conditional(self, node: ast.DictComp, value: str) -> None:
        """In `{x: DataLoader(...) for x in [...]}` one of the loaders gets a sampler."""
        maker = next(nodes_in(node.value, ast.Call), None)
        data = argument(maker, 0, "dataset") if maker else None
        if maker is None or data is None or not isinstance(node.key, ast.Name):
            return
        shuffle = argument(maker, 2, "shuffle")
        key = node.key.id
        patch = self.plan.patch(maker)
        order = ast.unparse(shuffle) if shuffle is not None else "False"
        sampler = self.samplers.made(maker, ast.unparse(data), order)
        patch.keyword(maker, "sampler", f'{sampler} if {key} == "{value}" else None', SHARDED)
        if isinstance(shuffle, ast.expr) and not is_false(shuffle):
            off = f'{key} != "{value}"'
            whole = off if isinstance(shuffle, ast.Constant) else f"{{}} and {off}"
            if shuffle in maker.args:
                patch.wrap(shuffle, whole, SHARDED)
            else:
                patch.keyword(maker, "shuffle", whole, SHARDED)
