"""Schedules that are stepped once for each batch: a rank has fewer batches, so they count fewer steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from distml.rewrites.horovod.aspects.rates import change_each
from distml.rewrites.horovod.aspects.spelling import quotient
from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.flows.pytorch.optimizers import Optimizers
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callsites import argument
from distml.training.syntax import is_false, nodes_in, targets_of, values_given
from distml.training.values import Box, Callable, Foreign, Instance

_STEPS = Note(
    "steps of the schedule divided by the number of ranks",
    "it steps once per batch, and each rank processes only its share of the batches",
    "scale-schedule",
)
_DIVIDED, _LISTED, _POWER, _COUNTED = "divided", "listed", "power", "counted"


class _Count(NamedTuple):
    """An argument that counts steps: how it changes, and what it is where it is left out."""

    name: str
    position: int
    way: str = _DIVIDED
    default: str = ""


_METHODS = frozenset({"step", "step_update"})
_LIBRARY = "torch.optim.lr_scheduler."
_COUNTS: dict[str, tuple[_Count, ...]] = {
    f"{_LIBRARY}StepLR": (_Count("step_size", 1),),
    f"{_LIBRARY}MultiStepLR": (_Count("milestones", 1, _LISTED),),
    f"{_LIBRARY}ConstantLR": (_Count("total_iters", 2, default="5"),),
    f"{_LIBRARY}LinearLR": (_Count("total_iters", 3, default="5"),),
    f"{_LIBRARY}PolynomialLR": (_Count("total_iters", 1, default="5"),),
    f"{_LIBRARY}ExponentialLR": (_Count("gamma", 1, _POWER),),
    f"{_LIBRARY}CosineAnnealingLR": (_Count("T_max", 1),),
    f"{_LIBRARY}CosineAnnealingWarmRestarts": (_Count("T_0", 1),),
    f"{_LIBRARY}CyclicLR": (_Count("step_size_up", 3, default="2000"), _Count("step_size_down", 4)),
    f"{_LIBRARY}OneCycleLR": (_Count("total_steps", 2), _Count("steps_per_epoch", 4)),
    f"{_LIBRARY}LambdaLR": (_Count("lr_lambda", 1, _COUNTED),),
    f"{_LIBRARY}SequentialLR": (_Count("milestones", 2, _LISTED),),
    f"{_LIBRARY}ChainedScheduler": (),
    f"{_LIBRARY}ReduceLROnPlateau": (_Count("patience", 3, default="10"), _Count("cooldown", 6)),
    "transformers.get_constant_schedule_with_warmup": (_Count("num_warmup_steps", 1),),
    **{
        f"transformers.get_{kind}_schedule_with_warmup": (
            _Count("num_warmup_steps", 1),
            _Count("num_training_steps", 2),
        )
        for kind in ("linear", "cosine", "cosine_with_hard_restarts", "polynomial_decay")
    },
}
"""The schedules of libraries: https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"""
_TIMM = "timm.scheduler."
_COUNTS |= {
    f"{_TIMM}{module}{kind}LRScheduler": (
        _Count(first, 1, _LISTED if kind == "MultiStep" else _DIVIDED),
        _Count("warmup_t", warmup),
    )
    for kind, first, warmup in (
        ("Cosine", "t_initial", 6),
        ("MultiStep", "decay_t", 3),
        ("Poly", "t_initial", 7),
        ("Step", "decay_t", 3),
        ("Tanh", "t_initial", 8),
    )
    for module in ("", f"{kind.lower()}_lr.")
}
"""Those of timm count steps that `step_update` tells them, where they are made with `t_in_epochs=False`, and epochs otherwise."""
_INNER = {f"{_LIBRARY}SequentialLR": 1, f"{_LIBRARY}ChainedScheduler": 0}
"""Where schedules take those that they step in turn."""


class Schedules:
    """Plans the schedules of programs whose batches are divided; `loaders` say of which loaders."""

    def __init__(self, study: Study, plan: Plan, loaders: Loaders) -> None:
        self.study, self.plan, self.loaders, self.program = study, plan, loaders, study.program
        self._seen: set[ast.AST] = set()

    def shorten(self, optimizers: Optimizers) -> None:
        """Divide what schedules count; HVD311 warns of those that count in a way which cannot be seen."""
        for call in self.program.calls:
            if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS or not self._by_batch(call):
                continue
            updates = call.func.attr == "step_update"
            if updates or not any(map(self._is_own, values_given(call))):
                for made in self._made(call.func.value):
                    if updates == is_false(argument(made, -1, "t_in_epochs")):
                        self._schedule(made)
                for name in self._of_the_program(call.func.value):
                    self._warn(call, f"`{name}` is stepped once per batch")
        for place in optimizers.set_by_hand():
            if self._by_batch(place) and not self._put_back(place):
                self._warn(place, "a learning rate is set for each batch")

    def _by_batch(self, node: ast.AST) -> bool:
        """Whether a node runs within the turns of a loop that a rank goes through less often, in whatever loops inside it."""
        return bool(self.study.loops_of(node) & self.study.shortened)

    def _put_back(self, place: ast.Assign | ast.AugAssign) -> bool:
        """Whether a rate is set for the one batch: in the same iteration it becomes again what it was before."""
        loop, target = self.study.loop(place), ast.unparse(targets_of(place)[0])
        nodes = [*nodes_in(loop, ast.Assign)] if loop is not None else []
        kept = {ast.unparse(each.targets[0]) for each in nodes if ast.unparse(each.value) == target}
        back = (each for each in nodes if ast.unparse(each.targets[0]) == target)
        return any(ast.unparse(each.value) in kept for each in back)

    def _made(self, node: ast.expr) -> Iterator[ast.Call]:
        """The calls that make the schedules which an expression can stand for."""
        for value in self.program.of(node):
            if isinstance(value, Foreign) and isinstance(value.node, ast.Call):
                if self.program.names(value.node.func) & _COUNTS.keys() or value.name.startswith(_LIBRARY):
                    yield value.node

    def _of_the_program(self, node: ast.expr) -> Iterator[str]:
        """The classes of the program's own schedules that an expression can stand for, but those told what counts already."""
        for value in self.program.of(node):
            if isinstance(value, Instance) and any(
                isinstance(base, Foreign) and base.name.startswith(_LIBRARY)
                for base in self.program.lineage(value.type)
            ):
                made = [call for call in self.program.calls if value.type in self.program.of(call.func)]
                if not made or not all(any(map(self._is_own, values_given(call))) for call in made):
                    yield value.type.node.name

    def _schedule(self, call: ast.Call) -> None:
        if call in self._seen:
            return
        self._seen.add(call)
        name = next(iter(sorted(self.program.names(call.func) & _COUNTS.keys())), None)
        hidden = any(keyword.arg is None for keyword in call.keywords)
        if name is None or hidden or self.program.unit(call).source.location not in self.plan.editable:
            self._warn(call, f"`{ast.unparse(call.func)}` is stepped once per batch")
            return
        for count in _COUNTS[name]:
            self._count(call, count)
        inner = argument(call, _INNER[name], "schedulers") if name in _INNER else None
        for part in inner.elts if isinstance(inner, ast.List | ast.Tuple) else [inner] if inner is not None else []:
            for made in self._made(part):
                self._schedule(made)

    def _count(self, call: ast.Call, count: _Count) -> None:
        size, patch = self.plan.world(call).size, self.plan.patch(call)
        given = argument(call, count.position, count.name)
        if given is None:
            if count.default:
                patch.keyword(call, count.name, f"max(1, {count.default} // {size})", _STEPS)
            return
        if is_false(given):
            return
        if self._is_own(given):
            self._count_others(given)
            return
        if count.way == _LISTED:
            change_each(self.plan, given, f"{{}} // {size}", _STEPS)
        elif count.way == _POWER:
            patch.wrap(given, f"{{}} ** {size}", _STEPS)
        elif count.way == _DIVIDED:
            patch.wrap(given, quotient(given, size), _STEPS)
        elif isinstance(given, ast.List | ast.Tuple):
            for each in given.elts:
                patch.wrap(each, f"lambda step: ({{}})(step * {size})", _STEPS)
        else:
            patch.wrap(given, f"lambda step: ({{}})(step * {size})", _STEPS)

    def _count_others(self, given: ast.expr) -> None:
        """Divide where a variable that may count by the rank's data gets another number of steps: `steps = args.max_steps`."""
        values = self.loaders.loops.assigned(given) if isinstance(given, ast.Name) else []
        for value in values if self._is_number(given) else ():
            settled = is_false(value)
            if not settled and not self._is_own(value) and self.plan.may_change(value):
                self.plan.patch(value).wrap(value, quotient(value, self.plan.world(value).size), _STEPS)

    def _is_number(self, given: ast.expr) -> bool:
        """Whether an argument is a number, and no list or function."""
        return not any(isinstance(each, Callable | Box) for each in self.program.of(given))

    def _is_own(self, given: ast.expr) -> bool:
        """Whether a number, or a function that is given the step, counts by the length of data that is divided already.

        So does an epoch that a schedule is told with its fraction: `step(epoch + i / len(loader))`.
        """
        bodies = self.program.functions(given)
        counted = [given, *(node for body in bodies for node in nodes_in(body, ast.expr))]
        return any(self.loaders.counts.counts_own(each, self.loaders.counted) for each in counted)

    def _warn(self, node: ast.expr | ast.stmt, what: str) -> None:
        self.plan.warn(
            "HVD311",
            node,
            f"{what}, and each rank has fewer batches: the length of the schedule in batches was not changed",
            f"make it end after `1 / {self.plan.world(node).size}` of the steps",
        )
