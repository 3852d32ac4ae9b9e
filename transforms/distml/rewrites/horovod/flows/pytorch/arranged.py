"""Data sets of the program that are arranged anew between epochs: their samples keep one order on all ranks.

A sampler deals out numbers. Where ranks shuffle what the numbers stand for, each in its own way, some samples are dealt out
twice and others never. What was drawn since the program began may differ in number, so ranks agree on a seed each time.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.drawing import DRAWS
from distml.rewrites.horovod.aspects.orders import makes_generator
from distml.rewrites.horovod.flows.pytorch.orders import Orders
from distml.rewrites.horovod.flows.pytorch.seeds import ALIKE, drawn, name_of
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callers import run_from
from distml.training.callsites import argument
from distml.training.syntax import nodes_in
from distml.training.values import Callable, Function

_ALIKE = Note(
    "drawn alike on all ranks",
    "a sampler deals out the numbers of samples: they must stand for the same ones on every rank",
    "share-batches",
)
_LOOKS_UP = frozenset({"__getitem__", "__getitems__", "__len__"})
Method = ast.FunctionDef | ast.AsyncFunctionDef


class Arranged:
    """Asks for one order in all methods of data sets that draw, those left out that look samples up."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling, orders: Orders) -> None:
        self.study, self.plan, self.spelling, self.orders = study, plan, spelling, orders
        self.program = study.program
        self._working: list[Function] = []
        """What loaders run beside, in processes of their own: no rank can wait for another there."""

    def agree(self) -> None:
        """For each class of which a loader takes objects."""
        loaders = [*self.program.calls_of("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")]
        data = [given for call in loaders if (given := argument(call, 0, "dataset")) is not None]
        helping = [argument(call, 6, "collate_fn") for call in loaders]
        helping += [argument(call, 10, "worker_init_fn") for call in loaders]
        values = {each for part in helping for each in self.program.of(part)}
        self._working = [each.node for each in values if isinstance(each, Callable)]
        sources = {source for given in data for source in self.program.sources(given)}
        owners = {value for each in sources for value in self.program.classes(each)}
        classes = {base for owner in owners for base in self.program.own_bases(owner)}
        for owner in sorted(classes, key=lambda each: each.lineno):
            if self.plan.may_change(owner):
                self._arrange(owner)

    def _arrange(self, owner: ast.ClassDef) -> None:
        methods = [each for each in owner.body if isinstance(each, Method)]
        if not any(each.name == "__getitem__" for each in methods):
            return
        asked = [*self._working, *(each for each in methods if each.name in _LOOKS_UP)]
        looking = {*asked, *run_from(asked, self.program)}
        for method in (each for each in methods if each not in looking):
            for kind in sorted(self._drawn(method, methods)) if self._again(method) else ():
                self._seed(method, kind)
            for call in nodes_in(method, ast.Call):
                if makes_generator(call, self.program):
                    self.orders.alike(call)

    def _drawn(self, method: Method, methods: list[Method]) -> set[str]:
        """The generators that a method draws from, but not where it runs another method, which agrees on its own."""
        found = drawn(self.study, method, DRAWS, 0)
        for call in nodes_in(method, ast.Call):
            for function in self.study.run_by(call):
                found |= drawn(self.study, function, DRAWS, 1) if function not in methods else set()
        return found

    def _seed(self, method: Method, kind: str) -> None:
        tree = self.program.unit(method).tree
        name = self.plan.world(method).torch if kind == "torch" else name_of(tree, kind)
        if name is not None:
            template, seed = ALIKE[kind]
            agreed = self.spelling.first(method, seed.format(name=name))
            self.plan.patch(method).begin(method, template.replace("{name}", name).replace("{}", agreed), _ALIKE)

    def _again(self, method: Method) -> bool:
        """Whether a method may run in training: what constructors draw is seeded where the program begins."""
        calls = self.study.callers.get(method, ())
        return method.name != "__init__" and any(self.study.loops_of(call) for call in calls)
