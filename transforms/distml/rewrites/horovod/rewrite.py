"""A program from single-process to distributed: find its loops, plan each, and give the new text of its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

from distml.rewrites.horovod.aspects import (
    already,
    devices,
    downloads,
    hdf5,
    helpers,
    inner,
    opened,
    orders,
    outputs,
    pictures,
    reloads,
)
from distml.rewrites.horovod.aspects.setup import set_up
from distml.rewrites.horovod.certify import certify
from distml.rewrites.horovod.flows import asked, flows
from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.plan import Flow, Loop, Plan, Refuse, Remark, Start
from distml.rewrites.model import Rewritten
from distml.source.project import Project
from distml.training.program import Program, followed

STARTS: dict[str, tuple[Start, ...]] = {
    "tensorflow": ("tensorflow", "keras", "session"),
    "keras": ("keras",),
    "torch": ("torch",),
}
"""The loops of each framework, by what they need at start-up."""

_STEPS: tuple[Callable[[Plan], None], ...] = (
    *(devices.visible, orders.alike, downloads.once, helpers.read_again, outputs.on_rank_zero, inner.by_rank_zero),
    *(
        pictures.by_rank_zero,
        helpers.by_rank_zero,
        hdf5.first_only,
        opened.apart,
        asked.in_tensorflow,
        reloads.handed_on,
    ),
)
"""What is planned for every program, when the loops of all flows are."""


@dataclass(frozen=True)
class Outcome:
    """What was found. `texts` are the files that may change as they are on disk, by location."""

    plan: Plan
    texts: Mapping[str, str]

    @cached_property
    def files(self) -> dict[str, Rewritten]:
        """The files as they would be, by location; none where anything was refused. Only now is LibCST asked, and what it gives
        certified, which may add to the plan's warnings and refusals.

        Raises `Unreadable` where LibCST cannot read a file that is to be changed.
        """
        made = certify(self.plan, self._made)
        return {} if self.plan.refusals else made

    def _made(self) -> dict[str, Rewritten]:
        return {location: patch.rewritten(self.texts[location]) for location, patch in self.plan.changed.items()}


def plan_of(program: Program, options: Options, editable: Iterable[str], shared: frozenset[str] = frozenset()) -> Plan:
    """The changes that make `program` distributed, or the refusals; `shared` are the files that other scripts import too."""
    plan = Plan(program, options, frozenset(editable), set_up, shared)
    found: list[tuple[Flow, Loop]] = [(flow, loop) for flow in flows() for loop in flow.find(program)]
    if options.framework != "auto":
        found = [(flow, loop) for flow, loop in found if loop.start in STARTS[options.framework]]
    plan.loops += [loop for _, loop in found]
    plan.refusals += already.distributed(program) if found else already.left_alone(program)
    if options.backend != "horovod":
        plan.refusals += already.of_tensorflow(plan.loops, options.backend)
    if found and program.too_large and not plan.refusals:
        what = f"the program is too large to analyze: {len(program.units)} modules"
        plan.refusals.append(Remark("HVD212", found[0][1].node, what, "give the script and its own modules only"))
    if not found or plan.refusals:
        return plan
    for flow, loop in found:
        try:
            flow.plan(loop, plan)
        except Refuse as error:
            plan.refusals.append(error.remark)
    if not plan.refusals:
        try:
            everywhere: Iterable[Callable[[], object]] = (partial(step, plan) for step in _STEPS)
            for ask in chain(plan.later, everywhere, plan.ends):
                ask()
        except Refuse as error:
            plan.refusals.append(error.remark)
    return plan


def rewrite(
    program: Program,
    options: Options,
    editable: Iterable[str],
    texts: Mapping[str, str],
    shared: frozenset[str] = frozenset(),
) -> Outcome:
    """Plan the changes; `texts` are the files as they are on disk, by location, `shared` those that other scripts import."""
    return Outcome(plan_of(program, options, editable, shared), texts)


def rewrite_text(path: str, options: Options = Options(), folder: str | None = None) -> Outcome:  # noqa: B008 - frozen
    """Rewrite one script; the modules it imports may change too where they lie in `folder`.

    Raises `UnreadableError` and `Unreadable` where a file cannot be read.
    """
    from distml.rewrites.writing import read_file

    project = Project(unmarked=[folder] if folder else ())
    source = project.open(path)
    program = followed([source], project)
    within = os.path.join(os.path.realpath(folder), "") if folder else ""
    inside = [each for each in program.units if each == source.location or (within and each.startswith(within))]
    editable = [each for each in inside if os.path.isfile(each)]  # a folder without `__init__.py` is a module too
    return rewrite(program, options, editable, {location: read_file(location) for location in editable})
