"""What is drawn before training, such as a split: alike on all ranks also where generators or seeds are the program's own.

A generator without a seed begins elsewhere in each process, and so does one whose seed is the time or the number of the
process. The global generators are seeded where the program begins.
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.drawing import generators, is_own
from distml.rewrites.horovod.flows.pytorch.orders import Orders
from distml.rewrites.horovod.flows.pytorch.seeds import ALIKE, SEEDS, TOGETHER
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Plan
from distml.training.callsites import argument

_ENTROPY = re.compile(r"random\.SystemRandom\(\)\.\w+|torch\.(random\.)?(seed|Generator\(\)\.seed)")
"""Calls that draw what no seed makes the same, or seed something with that."""
_SEEDED = frozenset({name for names in SEEDS.values() for name in names} | {"torch.Generator().manual_seed"})
_STATES = ("random_state", "seed")


class Prepared:
    """Asks for one seed on all ranks, for what draws before training."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling, orders: Orders) -> None:
        self.study, self.plan, self.spelling, self.orders = study, plan, spelling, orders
        self.program = study.program

    def agree(self) -> None:
        """Raises `Refuse` where no seed can do it."""
        ahead = [call for call in self.program.calls if self.plan.may_change(call) and self.study.before.holds(call)]
        made = {maker for call in ahead for maker in generators(call, self.program)}
        for call in ahead:
            names = self.program.names(call.func)
            if call in made or any(map(_ENTROPY.fullmatch, names)):
                self.orders.alike(call)
            seed = argument(call, 0 if call in made or names & _SEEDED else -1, *_STATES)
            if seed is not None and is_own(seed, self.program):
                self.plan.patch(seed).wrap(seed, self.spelling.first(seed, "{}"), TOGETHER)
            elif seed is None and not call.keywords:
                self._seed(call, names)

    def _seed(self, call: ast.Call, names: frozenset[str]) -> None:
        """A call without a seed takes another in each process: `numpy.random.seed()`."""
        kind = next((kind for kind in ("numpy", "random") if names & set(SEEDS[kind])), None)
        if kind is not None and isinstance(call.func, ast.Attribute):
            name = ast.unparse(call.func).removesuffix(".random.seed" if kind == "numpy" else ".seed")
            drawn = ALIKE[kind][1].replace("{name}", name)
            self.plan.patch(call).argument(call, self.spelling.first(call, drawn), TOGETHER)
