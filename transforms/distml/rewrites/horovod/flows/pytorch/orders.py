"""Seeds for samplers that are made anew for each epoch: one counter for each file, behind its start-up."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.setup import behind_start
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.unit import Unit

_SEEDS = Note(
    "another order for each sampler",
    "a sampler that is made anew for each epoch would always begin with the same order",
    "set-epoch",
)


class Orders:
    """Asks for the counters. All ranks make equally many samplers, so that each gets the same seed on all of them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._counters: dict[Unit, str] = {}

    def next_in(self, node: ast.AST) -> str:
        """The expression for the next seed in the file of `node`."""
        unit = self._plan.program.unit(node)
        if unit not in self._counters:
            count = spell(self._plan, node, "itertools.count", at_start=True)
            self._counters[unit] = self._plan.patch(node).free("orders")
            behind_start(self._plan, unit, f"{self._counters[unit]} = {count}()", _SEEDS)
        return f"next({self._counters[unit]})"
