"""How a loader gets the sampler that divides its data among the ranks, or is prepared by accelerate.

Where loader and data set are made in one statement, data set and sampler get names in front of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cached_property, partial

from distml.rewrites.horovod.flows.pytorch.loops import Loops
from distml.rewrites.horovod.flows.pytorch.orders import Orders
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import between
from distml.training.callsites import argument
from distml.training.syntax import is_false, nodes_in, place_of
from distml.training.values import Box, Constant

SHARDED = Note(
    "every rank samples its own part of the data",
    "without it all ranks see the same samples, and their average gradient is that of one rank",
    "distributed-sampler",
)
_SAME_ORDER = frozenset({"torch.utils.data.SequentialSampler", "torch.utils.data.sampler.SequentialSampler"})
_RANDOM = frozenset({"torch.utils.data.RandomSampler", "torch.utils.data.sampler.RandomSampler"})
_SUBSET = frozenset({"torch.utils.data.SubsetRandomSampler", "torch.utils.data.sampler.SubsetRandomSampler"})
_WEIGHTED = frozenset({"torch.utils.data.WeightedRandomSampler", "torch.utils.data.sampler.WeightedRandomSampler"})
_KEPT = frozenset("dataset drop_last epoch num_replicas rank seed set_epoch shuffle".split())
"""What a distributed sampler has itself."""
_ELSEWHERE = {"indices": (_SUBSET, ".indices"), "data_source": (_RANDOM | _SAME_ORDER, "")}
"""Attributes of samplers whose value is reached from the data set of the loader, by which samplers and how."""
_APART = (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.Lambda, ast.IfExp, ast.BoolOp)
"""Within these an expression may be evaluated more than once, or not at all."""


class Samplers:
    """Plans the samplers of one program."""

    def __init__(self, plan: Plan, loops: Loops, orders: Orders) -> None:
        self.plan, self.program, self.loops, self.orders = plan, plan.program, loops, orders
        self.shuffled: set[ast.Call] = set()
        """The loaders whose sampler shuffles."""
        self.anew: set[ast.Call] = set()
        """Loaders that are made for one epoch each, where nothing counts the epochs."""

    def way(self, maker: ast.Call, prepares: bool) -> Callable[[], None] | None:
        """How to give a loader a distributed sampler, or prepare it; None where that cannot be said there."""
        data, sampler = argument(maker, 0, "dataset"), argument(maker, 3, "sampler")
        if data is None or not self._is_plain(maker, data):
            return None
        if not all(map(self._found_elsewhere, self._read_of.get(maker, ()))):
            return None
        values = self.program.of(sampler)
        if sampler is not None and not (values and all(isinstance(v, Constant) and v.value is None for v in values)):
            return self._replaced(maker, data, sampler)
        if self._spread_with(maker, "sampler", "batch_sampler") is not None:
            return None
        spread = self._spread_with(maker, "shuffle")
        if prepares and maker not in self.loops.looked_into and self.loops.only_trains(maker):
            return partial(self._prepare, maker)
        if spread is not None:
            return partial(self._spread, maker, data, spread) if isinstance(spread, ast.Name | ast.Attribute) else None
        return partial(self._plain, maker, data)

    def read(self, sampled: set[ast.Call]) -> None:
        """What the program reads of the samplers that `sampled` loaders had comes from their data sets."""
        for each in {read for maker in sampled for read in self._read_of.get(maker, ())}:
            assert isinstance(each.value, ast.Attribute)
            code = f"{ast.unparse(each.value.value)}.dataset{_ELSEWHERE[each.attr][1]}"
            self.plan.patch(each).wrap(each, code, SHARDED)

    @cached_property
    def _read_of(self) -> dict[ast.AST | None, list[ast.Attribute]]:
        """Where attributes of a loader's sampler are asked for that a distributed one does not have, by the loader."""
        found: dict[ast.AST | None, list[ast.Attribute]] = {}
        for each in (node for unit in self.program.units.values() for node in nodes_in(unit.tree, ast.Attribute)):
            if each.attr not in _KEPT and isinstance(each.value, ast.Attribute) and each.value.attr == "sampler":
                for maker in self.loops.makers(each.value.value):
                    found.setdefault(maker, []).append(each)
        return found

    def _found_elsewhere(self, read: ast.Attribute) -> bool:
        """Whether an attribute of a sampler is reached without it, whichever loader has it."""
        assert isinstance(read.value, ast.Attribute)
        kinds, _ = _ELSEWHERE.get(read.attr, (frozenset(), ""))
        makers = self.loops.makers(read.value.value)
        if not kinds or len(makers) > 1 or not isinstance(read.ctx, ast.Load) or not self.plan.may_change(read):
            return False
        given = [argument(maker, 3, "sampler") for maker in makers]
        made = {name for each in given for name in self.program.names(each)}
        return not any(given) if read.attr == "data_source" and not made else {f"{kind}()" for kind in kinds} >= made

    def _is_plain(self, maker: ast.Call, data: ast.expr) -> bool:
        """Whether a call makes a loader of data with an index in a file that may change, and all that it is given is known."""
        makes = maker in self.program.made(maker)
        known = all(each.arg is not None or self._known(each.value) for each in maker.keywords)
        plain = known and not any(isinstance(each, ast.Starred) for each in maker.args)
        indexed = not self.loops.streams(data) and argument(maker, 4, "batch_sampler") is None
        return self.plan.may_change(maker) and makes and plain and indexed

    def _spread_with(self, maker: ast.Call, *keys: str) -> ast.expr | None:
        """What a call is given by `**` that has one of these keys."""
        spread = (each.value for each in maker.keywords if each.arg is None)
        return next((each for each in spread if any(self._has(each, key) for key in keys)), None)

    def _prepare(self, maker: ast.Call) -> None:
        self.plan.patch(maker).wrap(maker, f"{self.plan.world(maker).module}.prepare({{}})", SHARDED)
        self.loops.prepared.add(maker)

    def _plain(self, maker: ast.Call, data: ast.expr) -> None:
        shuffle = argument(maker, 2, "shuffle")
        order = ast.unparse(shuffle) if shuffle is not None else "False"
        made = self.made(maker, self._dataset(maker, data), order)
        self._give(maker, self._named(maker, data, made), shuffle)

    def _named(self, maker: ast.Call, data: ast.expr, sampler: str) -> str:
        """The name of a sampler that is made in a statement of its own, where loader and data are not made in passing."""
        unnamed = _makes(data) and data not in self.plan.patch(maker).requests.hoisted
        if unnamed or not self._may_stand_before(maker):
            return sampler
        name = self._free(maker, "sampler")
        self.plan.patch(maker).near(self.program.statement(maker), f"{name} = {sampler}", SHARDED)
        return name

    def _free(self, maker: ast.Call, kind: str) -> str:
        """A name for what a loader is made of, after the name of the loader."""
        statement = self.program.statement(maker)
        target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is maker else None
        called = target.id if isinstance(target, ast.Name) else ""
        own = re.sub("(data_?)?loader", kind, called)
        return self.plan.patch(maker).free(own if kind in own else kind)

    def _give(self, maker: ast.Call, sampler: str, shuffle: ast.expr | None) -> None:
        patch = self.plan.patch(maker)
        if shuffle is not None and shuffle in maker.args:
            patch.wrap(shuffle, "False", SHARDED)
        elif shuffle is not None:
            patch.drop(maker, "shuffle", SHARDED)
        if len(maker.args) > 3:
            patch.wrap(maker.args[3], sampler, SHARDED)
        else:
            patch.keyword(maker, "sampler", sampler, SHARDED)
        if not is_false(shuffle) and shuffle is not None:
            self.shuffled.add(maker)

    def made(self, node: ast.AST, data: str, shuffle: str) -> str:
        """The expression that makes a sampler of a data set, both given as text as `shuffle` is."""
        world = self.plan.world(node)
        shuffled = "" if shuffle == "True" else f", shuffle={shuffle}"
        ddp = self.plan.options.backend == "ddp"  # the sampler asks the process group itself
        where = "" if ddp else f", num_replicas={world.size}, rank={world.rank}"
        if node in self.anew and shuffle != "False":
            shuffled += f", seed={self.orders.next_in(node)}"
        return f"{world.torch}.utils.data.distributed.DistributedSampler({data}{where}{shuffled})"

    def _spread(self, maker: ast.Call, data: ast.expr, spread: ast.expr) -> None:
        """`shuffle` comes by `**settings`."""
        name = ast.unparse(spread)
        patch = self.plan.patch(maker)
        made = self.made(maker, self._dataset(maker, data), f'{name}.get("shuffle", False)')
        sampler = self._named(maker, data, made)
        patch.keyword(maker, "sampler", sampler, SHARDED)
        patch.wrap(spread, f'{{**{name}, "shuffle": False}}', SHARDED)
        self.shuffled.add(maker)

    def _replaced(self, maker: ast.Call, data: ast.expr, sampler: ast.expr) -> Callable[[], None] | None:
        """A sampler of the library that has a distributed counterpart."""
        calls = self.program.made(sampler)
        if len(calls) != 1 or self.program.function(calls[0]) is not self.program.function(maker):
            return None
        (call,) = calls
        names = self.program.names(call.func)
        first = call.args[0] if call.args else None
        if self._puts_back(call, names):
            own = any(k.arg in ("generator", None) for k in call.keywords)
            return None if own else partial(self._independent, call, 1 if names & _WEIGHTED else 2)
        if first is None or len(call.args) + len(call.keywords) > 1:
            return None
        if names & (_RANDOM | _SAME_ORDER):
            return partial(self._reordered, maker, data, sampler, names)
        if names & _SUBSET and isinstance(first, ast.Name | ast.Attribute | ast.Subscript):
            return partial(self._indexed, maker, data, sampler, ast.unparse(first))
        return None

    def _puts_back(self, call: ast.Call, names: frozenset[str]) -> bool:
        """Whether a sampler draws from all samples each time: then ranks may draw apart."""
        given = argument(call, 2 if names & _WEIGHTED else 1, "replacement")
        never = is_false(given)
        return not never and bool(names & _WEIGHTED or (names & _RANDOM and given is not None))

    def _reordered(self, maker: ast.Call, data: ast.expr, sampler: ast.expr, names: frozenset[str]) -> None:
        order = "True" if names & _RANDOM else "False"
        made = self.made(maker, self._dataset(maker, data), order)
        self.plan.patch(maker).wrap(sampler, made, SHARDED)
        self.shuffled.add(maker)

    def _indexed(self, maker: ast.Call, data: ast.expr, sampler: ast.expr, indices: str) -> None:
        patch = self.plan.patch(maker)
        patch.wrap(data, f"{self.plan.world(maker).torch}.utils.data.Subset({{}}, {indices})", SHARDED)
        patch.wrap(sampler, self.made(maker, indices, "True"), SHARDED)
        self.shuffled.add(maker)

    def _independent(self, call: ast.Call, position: int) -> None:
        """Samples drawn with replacement: every rank draws fewer, by random numbers of its own."""
        world = self.plan.world(call)
        patch = self.plan.patch(call)
        count = argument(call, position, "num_samples")
        if count is not None:
            patch.wrap(count, f"{{}} // {world.size}", SHARDED)
        torch = world.torch
        order = f" + {self.orders.next_in(call)} * {world.size}" if self.orders.again(call) else ""
        seed = f"{torch}.Generator().manual_seed({torch}.initial_seed() + {world.rank}{order})"
        patch.keyword(call, "generator", seed, SHARDED)

    def _dataset(self, maker: ast.Call, data: ast.expr) -> str:
        """How the data set is called; it gets a name where it is made in place."""
        if not _makes(data):
            return ast.unparse(data)
        patch, name = self.plan.patch(maker), self._free(maker, "dataset")
        note = Note("a name for the data set", "both the loader and its sampler need it", "distributed-sampler")
        if self._is_first(data, maker):
            patch.hoist(data, self.program.statement(maker), name, note)
        else:
            patch.wrap(data, f"({name} := {{}})", note)
        return name

    def _is_first(self, data: ast.expr, maker: ast.Call) -> bool:
        """Whether a statement makes a data set before anything else, but for other loaders, and once."""
        if not self._may_stand_before(maker):
            return False
        around = self._above(data)
        earlier = (
            each for each in nodes_in(around[-1], ast.Call) if each not in around and place_of(each) < place_of(data)
        )
        return all(any(map(self.loops.is_loader, self._calls(each))) for each in earlier)

    def _calls(self, node: ast.Call) -> list[ast.Call]:
        """A call and those around it in its statement."""
        return [node, *(each for each in self._above(node) if isinstance(each, ast.Call))]

    def _may_stand_before(self, maker: ast.Call) -> bool:
        """Whether what a call is given may be made in front of its statement, which runs it once."""
        once = not any(isinstance(each, _APART) for each in self._above(maker))
        return once and isinstance(self.program.statement(maker), ast.Assign | ast.Return | ast.For)

    def _above(self, node: ast.expr) -> list[ast.AST]:
        """What is around an expression within its statement."""
        return list(between(node, self.program.statement(node), self.program))

    def _known(self, spread: ast.expr) -> bool:
        values = self.program.of(spread)
        return bool(values) and all(isinstance(value, Box) for value in values)

    def _has(self, spread: ast.expr, key: str) -> bool:
        boxes = [value for value in self.program.of(spread) if isinstance(value, Box)]
        return any(key in self.program.store.keys(box) or "*" in self.program.store.keys(box) for box in boxes)


def _makes(data: ast.expr) -> bool:
    """Whether a data set is made where it is given."""
    return any(isinstance(node, ast.Call) for node in walk(data))
