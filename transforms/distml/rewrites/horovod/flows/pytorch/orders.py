"""The order of samples that ranks deal out among them: drawn alike on all of them, whatever draws it.

A sampler, a data set that is gone through and a loader that shuffles draw from a generator that was given, from one of their
own, or from a global one. The first is the program's to seed; what has none gets one that begins alike on all ranks; the
global ones are seeded alike where the program begins.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.drawing import DRAWS
from distml.rewrites.horovod.aspects.orders import is_unseeded
from distml.rewrites.horovod.aspects.setup import behind_start
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.pytorch.seeds import drawn
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.training.around import block_of
from distml.training.callsites import argument, told
from distml.training.syntax import nodes_in, values_given
from distml.training.unit import Unit
from distml.training.values import Box, Class, Constant, Foreign, Instance

_SEEDS = Note(
    "another order for each sampler",
    "a sampler that is made anew for each epoch would always begin with the same order",
    "set-epoch",
)
_ORDER = Note(
    "one order of the samples on all ranks",
    "batches are assigned to ranks in turn, so all ranks must see the same batches",
    "share-batches",
)
_LIBRARY = re.compile(r"torch\.utils\.data\.(sampler\.|dataloader\.|dataset\.)?\w+(\(\))?")
_HEARD = re.compile(rf"({_LIBRARY.pattern})$|torch\.(?!utils|load|jit|hub)|numpy\.(?!load|from|gen)")
"""What gives an order that is known: of samplers, and of tensors and arrays that are computed."""
_POSITIONS = {"RandomSampler": 3, "SubsetRandomSampler": 1, "WeightedRandomSampler": 3}
"""The samplers of PyTorch that draw, and at which place they are given a generator."""
_ANYWHERE = re.compile(
    r"random\.SystemRandom(\(\)\.\w+)?|secrets\.\w+|os\.urandom|uuid\.uuid[14]|torch\.(random\.)?seed|torch\.Generator\(\)\.seed"
)
"""What no seed makes the same in two processes."""
_GLOBAL = frozenset({"torch", "numpy", "random"})


class Orders:
    """Asks for the seeds. All ranks make equally many samplers, so that each gets the same one on all of them."""

    def __init__(self, study: Study, plan: Plan) -> None:
        self._study, self._plan, self._program = study, plan, study.program
        self._counters: dict[Unit, str] = {}

    def next_in(self, node: ast.AST) -> str:
        """The expression for the next seed in the file of `node`."""
        unit = self._plan.program.unit(node)
        if unit not in self._counters:
            count = spell(self._plan, node, "itertools.count", at_start=True)
            self._counters[unit] = self._plan.patch(node).free("orders")
            behind_start(self._plan, unit, f"{self._counters[unit]} = {count}()", _SEEDS)
        return f"next({self._counters[unit]})"

    def agree(self, maker: ast.Call, streamed: ast.expr | None) -> set[str]:
        """Let all ranks draw one order for a loader; gives the global generators that must be alike for that.

        `streamed` is a data set that gives its samples in an order of its own. Raises `Refuse` where no seed can do it.
        """
        given = [argument(maker, 3, "sampler"), argument(maker, 4, "batch_sampler"), streamed]
        parts = [each for each in given if each is not None] + [k.value for k in maker.keywords if k.arg is None]
        kinds: set[str] = set()
        for call in self._drawing(parts):
            kinds |= self.alike(call)
        for owner in self._owners(parts):
            kinds |= drawn(self._study, owner, DRAWS, 2)
            kinds |= {"torch"} if any(map(_position, self._bases(owner))) else set()
        kinds |= _GLOBAL if any(self.unheard(each) for each in given[:2] if each is not None) else set()
        if not self._plan.may_change(maker):
            kinds |= {"torch"}
        elif not kinds and not any(given[:2]):
            told_by = [told(maker, name, self._program) for name in ("generator", "sampler", "batch_sampler")]
            if None in told_by:  # settings that nobody knows may hold one of these
                kinds |= {"torch"}
            elif not any(told_by):
                self._plan.patch(maker).keyword(maker, "generator", self._generator(maker), _ORDER)
        return kinds

    def agree_on(self, iterable: ast.expr) -> set[str]:
        """The same for what a loop goes through that is no loader: parts of a permutation, batches of a generator."""
        study, kinds = self._study, drawn(self._study, iterable, DRAWS, 3)
        sources = self._program.sources(iterable)
        made = [value.node for each in sources for value in self._program.of(each) if isinstance(value, Box)]
        functions = [each for each in made if isinstance(each, ast.FunctionDef)]
        calls = (each for each in sources if isinstance(each, ast.Call) and study.loops_of(each))
        for node in (*calls, *self._ahead(self._program.statement(iterable), 2)):
            kinds |= drawn(study, node, DRAWS, 2, own=True)
        for owner in (*functions, *self._owners([iterable]), *self._giving(sources)):
            kinds |= drawn(study, owner, DRAWS, 2)
        for call in self._drawing([iterable]):
            kinds |= self.alike(call)
        inside = (each for function in functions for each in nodes_in(function, ast.expr))
        for call in self._drawing(list(inside)):
            kinds |= self.alike(call)
        return kinds | ({"torch"} if self.unheard(iterable) else set())

    def _ahead(self, statement: ast.stmt, depth: int) -> Iterator[ast.stmt]:
        """What runs in front of a statement in each epoch: it may arrange what is gone through there."""
        if self._study.loops_of(statement):
            block = block_of(statement, self._program)
            yield from block[: block.index(statement)]
            for call in self._study.leading(statement) if depth else ():
                yield from self._ahead(self._program.statement(call), depth - 1)

    def _giving(self, sources: set[ast.AST]) -> set[ast.ClassDef]:
        """The classes of the program, but for models, whose methods give what a loop goes through: others may shuffle it."""
        calls = (each for each in sources if isinstance(each, ast.Call))
        functions = (each for call in calls for each in self._study.run_by(call) if not self._study.of_model(each))
        return {owner for each in functions if isinstance(owner := self._program.parent(each), ast.ClassDef)}

    def _drawing(self, parts: list[ast.expr]) -> Iterator[ast.Call]:
        """The calls that make what the order comes from, and those in the classes of the program that give it."""
        found = {source for part in parts for source in self._program.sources(part)}
        for owner in self._owners(parts):
            inside = list(nodes_in(owner, ast.expr))
            found |= {source for each in inside for source in self._program.sources(each)}
        yield from self._program.ordered(each for each in found if isinstance(each, ast.Call))

    def _owners(self, parts: list[ast.expr]) -> list[ast.ClassDef]:
        """The classes of the program whose objects give the order, those of what they are made of included."""
        found: dict[ast.ClassDef, None] = {}
        waiting = list(parts)
        seen: set[ast.AST] = set()
        while waiting:
            for source in self._program.sources(waiting.pop()) - seen:
                seen.add(source)
                for value in self._program.of(source):
                    if isinstance(value, Instance) and value.type.node not in found and self._orders(value.type):
                        found[value.type.node] = None
                        made = (call for call in self._program.calls if value.type in self._program.of(call.func))
                        waiting += [each for call in made for each in values_given(call)]
        return list(found)

    def _orders(self, owner: Class) -> bool:
        """Whether objects of a class are gone through, as samplers and streams are."""
        methods = {each.name for each in owner.node.body if isinstance(each, ast.FunctionDef)}
        return "__iter__" in methods or any(map(_position, self._bases(owner.node)))

    def _bases(self, owner: ast.ClassDef) -> list[str]:
        return self._program.library_bases(Class(owner))

    def alike(self, call: ast.Call) -> set[str]:
        """Have a call that makes what draws begin alike everywhere; gives the global generator it draws from otherwise."""
        names = self._program.names(call.func)
        if any(map(_ANYWHERE.fullmatch, names)):
            what = "the order of these samples is drawn in each process anew, and no seed makes it the same"
            raise Refuse("HVD213", call, what, "draw it from a generator with a seed")
        at = next((at for name in sorted(names) if (at := _position(name))), None)
        if at is not None and self._is_none(argument(call, at, "generator")):
            if not self._plan.may_change(call):
                return {"torch"}
            self._give(call, at, "generator", self._generator(call))
        elif is_unseeded(call, self._program) and self._plan.may_change(call):
            self._give(call, 0, "seed", self.next_in(call) if self.again(call) else "0")
        return set()

    def _give(self, call: ast.Call, at: int, name: str, code: str) -> None:
        patch = self._plan.patch(call)
        if len(call.args) > at:
            patch.wrap(call.args[at], code, _ORDER)
        elif name == "seed" and not call.keywords:
            patch.argument(call, code, _ORDER)
        else:
            patch.keyword(call, name, code, _ORDER)

    def _generator(self, node: ast.AST) -> str:
        made = f"{self._plan.world(node).torch}.Generator()"
        return f"{made}.manual_seed({self.next_in(node)})" if self.again(node) else made

    def again(self, node: ast.AST) -> bool:
        """Whether a generator that is made here may be made for each epoch: then each begins elsewhere."""
        function = self._program.function(node)
        method = function is not None and isinstance(self._program.parent(function), ast.ClassDef)
        return bool(self._study.loops_of(node)) or (method and function is not None and function.name != "__init__")

    def unheard(self, part: ast.expr) -> bool:
        """Whether what gives the order is of another library, or comes from where nobody knows."""
        names = {value.name for value in self._program.of(part) if isinstance(value, Foreign)}
        return not self._program.of(part) or any(not _HEARD.match(name) for name in names)

    def heard(self, part: ast.expr) -> bool:
        """Whether something is a tensor or an array that is computed: all ranks see its items in one order."""
        return not self.unheard(part) and all(isinstance(each, Foreign) for each in self._program.of(part))

    def _is_none(self, given: ast.expr | None) -> bool:
        values = self._program.of(given)
        return given is None or (bool(values) and all(v == Constant(None) for v in values))


def _position(name: str) -> int | None:
    """At which place a sampler of this path is given a generator; None for what is none that draws."""
    known = _LIBRARY.fullmatch(name)
    return _POSITIONS.get(name.removesuffix("()").rpartition(".")[2]) if known else None
