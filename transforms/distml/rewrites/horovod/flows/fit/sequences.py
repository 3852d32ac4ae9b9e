"""Batches by number, of a `Sequence` that the program defines: dealt out to the ranks, in an order that is drawn alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.setup import behind_start
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.fit import seeds
from distml.rewrites.horovod.flows.fit.arrays import carries_state
from distml.rewrites.horovod.notes import DEALT
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callers import run_from
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.syntax import nodes_in
from distml.training.values import Class, Foreign, Instance

_DEALT = '''

class {name}({sequence}):
    """Every rank takes its share of the batches, which all ranks shuffle alike."""

    def __init__(self, batches):
        super().__init__()
        self.batches, self.epoch = batches, 0

    def __len__(self):
        return len(self.batches) // {size}

    def __getitem__(self, index):
        return self.batches[index * {size} + {rank}]

    def on_epoch_end(self):
        self.epoch += 1{seeded}
        self.batches.on_epoch_end(){apart}
'''
_SEQUENCES = ("Sequence", "PyDataset")


def deal(plan: Plan, call: ast.Call, x: ast.expr) -> bool:
    """Let `fit` go through a rank's share of a sequence; False where the program does not define what that is."""
    owners = list(_owners(x, plan.program))
    if plan.options.shard != "auto" or not owners or carries_state(plan.program, plan.program.unit(call)):
        return False
    asked = _asked(owners, plan.program)
    seeds.agree(plan, [x], classes=False)
    alike = seeds.together(plan, x, owners, asked)
    own = seeds.drawn_by(asked, plan.program)
    seeds.generators_apart(plan, x, asked)
    if own:
        seeds.differ(plan, call)
    unit, world = plan.program.unit(x), plan.world(x)
    key = (unit.source.location, "Dealt")
    if key not in plan.spelled:
        plan.spelled[key] = plan.patch(unit.tree).free("Dealt")
        sequence = spell(plan, x, "keras.utils.Sequence", at_start=True)
        said = {each: f"\n        {spell(plan, x, each, at_start=True)}" for each in alike}
        parts = {
            "seeded": "".join(f"{each}(self.epoch)" for each in said.values()),
            "apart": "".join(
                f"{text}(self.epoch * {world.size} + {world.rank})" for each, text in said.items() if each in own
            ),
        }
        made = _DEALT.format(name=plan.spelled[key], sequence=sequence, size=world.size, rank=world.rank, **parts)
        behind_start(
            plan, unit, made, Note("a sequence of this rank's batches", "Keras has none for this", "shard-data")
        )
    plan.patch(x).wrap(x, f"{plan.spelled[key]}({{}})", DEALT)
    return True


def _asked(owners: list[ast.ClassDef], program: Program) -> set[ast.AST]:
    """The functions that run when a batch is asked for, if they draw for this batch alone and shuffle nothing that is kept."""
    methods = [each for owner in owners for each in owner.body if getattr(each, "name", "") == "__getitem__"]
    found = {*methods, *run_from(methods, program)}
    calls = (call for function in found for call in nodes_in(function, ast.Call))
    return set() if any(called(each, program) == "shuffle" and _keeps(each) for each in calls) else found


def _keeps(call: ast.Call) -> bool:
    """Whether a call is given an attribute: what it changes stays changed."""
    return any(isinstance(each, ast.Attribute) for each in call.args)


def _owners(x: ast.expr, program: Program) -> Iterator[ast.ClassDef]:
    """The classes of the program that say what the batches are; none where something else may be meant."""
    values = program.of(x)
    if not values or not all(isinstance(value, Instance) for value in values):
        return
    for value in values:
        lineage = [*program.lineage(value.type)] if isinstance(value, Instance) else []
        bases = [each.name.rpartition(".")[2] for each in lineage if isinstance(each, Foreign)]
        if any(each in _SEQUENCES for each in bases):
            yield from (each.node for each in lineage if isinstance(each, Class))
