"""What training loops go through: data loaders, other iterables, or numbers with which a tensor is sliced."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from distml.rewrites.horovod.aspects.filling import assigned
from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.rewrites.horovod.flows.pytorch.study import Study, branches, graded
from distml.source.nodes import SCOPES
from distml.training.around import COMPREHENSIONS, LOOPS, between, last_given
from distml.training.callsites import argument_for, called, positional
from distml.training.counting import BARS, COUNTS
from distml.training.syntax import names_in, nodes_in, runs_as_script, stores, targets_of, yields
from distml.training.values import Box, Callable, Class, Constant, Foreign, Instance, Value

LOADER = re.compile(r"(?!\?)[\w.]*DataLoader\(\)")
_BATCH = re.compile(r"(?!\?)[\w.]*DataLoader\(\)\[\]")
_OF_BATCH = re.compile(_BATCH.pattern + ".*")
_STREAM = re.compile(r".*IterableDataset\(\)|torchtext\.datasets\.\w+\(\)(\[\])?")
_SETTINGS = frozenset({"sampler", "batch_sampler", "batch_size", "drop_last"})
"""What a loader that accelerate has prepared answers otherwise, or not at all."""
_WRAPPERS = BARS | frozenset("enumerate zip iter reversed islice cycle chain prefetch list auto next".split())
_NO_DATA = COUNTS | frozenset("keys linspace parameters named_parameters modules children".split())


@dataclass(frozen=True, eq=False)
class Use:
    """One place where data is drawn: the expression of the iterable, and the loop or call that draws."""

    iterable: ast.expr
    drawn: ast.AST
    makers: frozenset[ast.Call]
    """The calls that can have made the data loader."""


class Loops:
    """Sorts the loops of a program by what they do with data."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.program = study.program
        self.training: list[Use] = []
        self.others: list[Use] = []
        self.passing: list[Use] = []
        """What generators go through to hand it on."""
        self.prepared: set[ast.Call] = set()
        """The calls that make loaders which accelerate deals out."""
        for node in (each for each in self.program.nodes(ast.AST) if each not in self.program.idle):
            self._sort(node)

    def _sort(self, node: ast.AST) -> None:
        if isinstance(node, ast.For | ast.AsyncFor):
            trains = self.study.training.holds_any(node.body)
            handing = not trains and yields(node)
            for leaf in self.leaves(node.iter):
                if handing:
                    self.passing.append(Use(leaf, node, self.makers(leaf)))
                else:
                    self._note(leaf, node, trains)
        elif isinstance(node, ast.Call) and (inner := self._drawn_from(node)) is not None:
            loop = self.study.loop(node)
            direct = loop is not None and self.study.training.holds(loop)
            function = self.program.function(node)
            if not direct and function is not None and yields(function):
                self.passing += [Use(leaf, node, self.makers(leaf)) for leaf in self.leaves(inner)]
                return
            if called(inner, self.program) in ("iter", "__iter__") and loop is None:
                return  # a look at one batch
            serves = purposes(node, self.program)
            trains = direct or TRAINING in serves or (not serves and self._called_in_training(node))
            for leaf in self.leaves(inner):
                self._note(leaf, node, trains)
        elif isinstance(node, ast.comprehension):
            above = self.program.parent(node)
            for leaf in self.leaves(node.iter):
                self._note(leaf, node, above is not None and self.study.training.holds(above))

    def _drawn_from(self, call: ast.Call) -> ast.expr | None:
        """The iterator that a call takes the next item of: `next(batches)`, or `batches.next()` of older loaders."""
        if "builtins.next" in self.program.names(call.func):
            return call.args[0] if call.args else None
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("next", "__next__") and not call.args:
            iterator = call.func.value
            return iterator if any(self.makers(leaf) for leaf in self.leaves(iterator)) else None
        return None

    def _called_in_training(self, node: ast.AST) -> bool:
        """Whether what a call draws may be trained on: training calls its function, where something of it can have gradients."""
        function, bound = self.program.function(node), _names_of(self.program.statement(node))
        reads = [each for each in nodes_in(function, ast.Name) if each.id in bound] if function is not None else []
        if reads and not any(isinstance(each.ctx, ast.Load) and graded(self.program, each) for each in reads):
            return False
        around = (self.study.loop(call) for call in self.study.leading(node))
        return any(loop is not None and self.study.training.holds(loop) for loop in around)

    def _note(self, leaf: ast.expr, node: ast.AST, trains: bool) -> None:
        use = Use(leaf, node, self.makers(leaf))
        (self.training if trains else self.others).append(use)

    def leaves(self, node: ast.expr, depth: int = 4) -> Iterator[ast.expr]:
        """The iterables inside `enumerate`, progress bars and their like."""
        if isinstance(node, ast.Call) and called(node, self.program) in _WRAPPERS and node.args:
            several = node.args if called(node, self.program) in ("zip", "chain") else node.args[:1]
            for each in several:
                yield from self.leaves(each, depth)
            return
        if (
            isinstance(node, ast.Call)
            and called(node, self.program) == "__iter__"
            and isinstance(node.func, ast.Attribute)
        ):
            yield from self.leaves(node.func.value, depth)
            return
        if isinstance(node, ast.Name | ast.Attribute) and depth:
            made = [choice for each in self.assigned(node) for choice in _choices(each)]
            calls = [each for each in made if called(each, self.program) in (*_WRAPPERS, "__iter__")]
            fewer = len(made) > 1 or any(self.program.of(each) < self.program.of(node) for each in made)
            names = [each for each in made if isinstance(each, ast.Name) and fewer]
            if calls or names:
                for each in [*calls, *names]:
                    yield from self.leaves(each, depth - 1)
                return
        yield node

    def assigned(self, name: ast.Name | ast.Attribute) -> list[ast.expr]:
        """What simple statements assign to a variable, in its scope, or to an attribute of the same objects."""
        if isinstance(name, ast.Attribute):
            owners = self.program.of(name.value)
            held = self._attributes.get(name.attr, ())
            return [value for target, value in held if self.program.of(target.value) & owners]
        if (last := last_given(name, self.program)) is not None:
            return [last.value]
        lexical = self.program.unit(name).lexical
        owner = self.program.owner(name)
        return [
            value
            for target, value in (_assignments(owner) if owner is not None else ())
            if isinstance(target, ast.Name) and target.id == name.id and lexical.owner_at(name.id, target) is owner
        ]

    @cached_property
    def _attributes(self) -> dict[str, list[tuple[ast.Attribute, ast.expr]]]:
        """What simple statements assign to attributes, by their names."""
        found: dict[str, list[tuple[ast.Attribute, ast.expr]]] = {}
        for target, value in (pair for unit in self.program.units.values() for pair in _assignments(unit.tree)):
            if isinstance(target, ast.Attribute):
                found.setdefault(target.attr, []).append((target, value))
        return found

    def makers(self, leaf: ast.expr) -> frozenset[ast.Call]:
        """The calls that make the loaders whose batches an iterable gives."""
        return frozenset(self._makers(self.program.of(leaf)))

    def _makers(self, values: Iterable[Value], depth: int = 3) -> Iterator[ast.Call]:
        for value in values:
            if isinstance(value, Foreign) and isinstance(value.node, ast.Call):
                if LOADER.fullmatch(value.name):
                    yield value.node
            elif isinstance(value, Box) and depth:
                yield from self._held(value, depth - 1)

    def _held(self, box: Box, depth: int) -> Iterator[ast.Call]:
        """The loaders that a container holds, or whose batches it does: to go through the parts of one batch is no pass."""
        inside = self.program.store.item(box)
        yield from self._makers(inside, depth)
        for each in getattr(box.node, "generators", ())[:1]:
            for leaf in self.leaves(each.iter):
                yield from self._makers(self.program.of(leaf), depth)
        deep = _OF_BATCH if isinstance(box.node, SCOPES) else _BATCH
        for value in inside if not isinstance(box.node, (ast.Tuple, *COMPREHENSIONS)) else ():
            shown = isinstance(value, Box) and isinstance(value.node, ast.Tuple | ast.List | ast.Dict)
            for part in self.program.store.item(value) if isinstance(value, Box) and shown else [value]:
                if isinstance(part, Foreign) and isinstance(part.node, ast.Call):
                    if (_OF_BATCH if shown else deep).fullmatch(part.name):
                        yield part.node

    def only_trains(self, maker: ast.Call) -> bool:
        """Whether each batch of a loader is trained on: numbers of other batches must not count samples that are repeated."""
        if any(maker in use.makers for use in self.others):
            return False
        drawn = (use.drawn for use in self.training if maker in use.makers)
        tests = [node for each in drawn for node in nodes_in(each, ast.If)]
        tests += (
            node
            for each in self.study.backwards
            for node in branches(self.program, each, None)
            if isinstance(node, ast.If) and not runs_as_script(node)
        )
        leads = self.study.reach(self.study.backwards)
        return not any(leads.holds_any(test.body) != leads.holds_any(test.orelse) for test in tests)

    @cached_property
    def looked_into(self) -> frozenset[ast.Call]:
        """The calls that make loaders of which the program reads what a prepared loader has no longer."""
        trees = (unit.tree for unit in self.program.units.values())
        nodes = (node for tree in trees for node in nodes_in(tree, ast.Attribute))
        return frozenset[ast.Call]().union(*(self.makers(node.value) for node in nodes if node.attr in _SETTINGS))

    def streams(self, data: ast.expr) -> bool:
        """Whether a data set can only be gone through, not looked up by index."""
        if self.program.matches(data, _STREAM):
            return True
        owners = self.program.classes(data)
        return bool(owners) and not any(self._has_method(owner, "__getitem__") for owner in owners)

    def _has_method(self, owner: Class, name: str) -> bool:
        for base in self.program.lineage(owner):
            if isinstance(base, Foreign):
                if "IterableDataset" not in base.name and not base.name.startswith("builtins."):
                    if base.name not in ("torch.utils.data.Dataset", "torch.utils.data.dataset.Dataset"):
                        return True
            elif any(isinstance(each, ast.FunctionDef) and each.name == name for each in base.node.body):
                return True
        return False

    def is_loader(self, leaf: ast.expr) -> bool:
        """Whether an iterable may be a loader itself, not something that goes through one."""
        return any(isinstance(value, Foreign) and LOADER.fullmatch(value.name) for value in self.program.of(leaf))

    def is_data(self, leaf: ast.expr) -> bool:
        """Whether going through `leaf` may give samples: it is no range, no list of settings, models or optimizers."""
        if called(leaf, self.program) in _NO_DATA:
            return False
        if isinstance(leaf, ast.Constant) or (isinstance(leaf, ast.Attribute) and leaf.attr == "param_groups"):
            return False
        held = self.program.held(self.program.of(leaf))
        if held and all(isinstance(v, Constant | Callable | Instance) or _tool(v) for v in held):
            return False
        names = self.program.names(leaf)
        return not any(
            name.startswith(("builtins.range", "itertools.count", "torch.optim", "torch.nn.")) for name in names
        )

    def epoch(self, node: ast.AST) -> str | None:
        """The variable that counts epochs where `node` stands."""
        for above in self.program.ancestors(node):
            if isinstance(above, ast.For) and isinstance(above.target, ast.Name) and self._counts(above.iter):
                return above.target.id if self._tells_passes(above, above.target, node) else None
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
                return self._parameter(above)
            if isinstance(above, ast.Lambda | ast.While):  # what a loop further out counts stays the same in this one
                return None
        return None

    def _tells_passes(self, loop: ast.For, counter: ast.Name, node: ast.AST) -> bool:
        """Whether the counter of a loop is another one at each pass that begins at a node: nothing else sets it, and where a
        pass begins now and then only, the loop does not begin anew."""
        names = [each for each in nodes_in(loop, ast.Name) if each.id == counter.id]
        if any(isinstance(each.ctx, ast.Store) and each is not counter for each in names):
            return False
        within = between(node, loop, self.program)
        now_and_then = any(isinstance(above, ast.If | ast.Try | ast.ExceptHandler) for above in within)
        around = itertools.takewhile(lambda above: not isinstance(above, SCOPES), self.program.ancestors(loop))
        return not (now_and_then and any(isinstance(above, LOOPS) for above in around))

    def _counts(self, node: ast.expr) -> bool:
        return all(called(each, self.program) in COUNTS for each in self.leaves(node))

    def _parameter(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
        """A parameter for which every call gives the variable that counts epochs there."""
        calls = self.study.callers.get(function, [])
        for name in positional(function):
            given = [argument_for(call, function, name, self.program) for call in calls]
            if given and not any(stores(function, name)) and all(isinstance(each, ast.Name) for each in given):
                if all(self.epoch(each) == each.id for each in given if isinstance(each, ast.Name)):
                    return name
        return None


def _names_of(statement: ast.stmt) -> set[str]:
    """The names that a statement sets."""
    return {name for target in targets_of(statement) for name in names_in(target)}


def _assignments(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of simple assignments, each with its value."""
    for node in nodes_in(tree, ast.Assign):
        for target in node.targets:
            yield from assigned(target, node.value)


def _choices(node: ast.expr) -> list[ast.expr]:
    """What a conditional expression chooses from."""
    return [*_choices(node.body), *_choices(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def _tool(value: Value) -> bool:
    return isinstance(value, Foreign) and value.name.startswith(("torch.optim.", "torch.nn."))
