"""Training loops of TensorFlow 2 that take their gradients from a `tf.GradientTape`."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import partial

from distml.rewrites.horovod.aspects import rates, reloads
from distml.rewrites.horovod.flows.fit import prepared
from distml.rewrites.horovod.flows.tape import (
    broadcast,
    data,
    decisions,
    gradients,
    intervals,
    means,
    optimizers,
    progress,
)
from distml.rewrites.horovod.flows.tape.updates import Update, updates
from distml.rewrites.horovod.plan import Loop, Plan, Refuse
from distml.training.around import loops_around, owner_of
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.values import Class


class TapeFlow:
    """Loops whose updates come from tapes: one for each function that makes updates, or for the module itself."""

    def find(self, program: Program) -> list[Loop]:
        """The places that make updates."""
        return [_loop(group, program) for group in _groups(program).values()]

    def plan(self, loop: Loop, plan: Plan) -> None:
        """Average the gradients, divide the data, scale the rates, and make weights equal."""
        group = _groups(plan.program)[owner_of(loop.node, plan.program)]
        _refuse(group)
        gradients.average(plan, group)
        if of_fit(group[0].call, plan.program):
            _raise_rates(group, plan)
            return
        plan.once(prepared.alike)
        whole = data.divide(plan, group)
        _raise_rates(
            [update for update in group if update not in whole and not data.is_one(update, plan.program)], plan
        )
        _same_data(whole, plan)
        broadcast.broadcast(plan, group)
        means.average(plan, [update for update in group if update not in whole])
        decisions.agree(plan, group)
        plan.once(_tell, intervals.shorten, reloads.saved)


def _tell(plan: Plan) -> None:
    plan.later.append(partial(progress.tell, plan))


def _raise_rates(group: list[Update], plan: Plan) -> None:
    for update in group:
        made = optimizers.makers(plan, update.optimizer)
        if not made and train_step(update.call, plan.program) is None:
            rates.not_found(plan, update.optimizer)
        for call in made:
            rates.scale_optimizer(plan, call)
        _warn_of_rates(plan, update.call)
    plan.once(rates.scale_settings)


def _warn_of_rates(plan: Plan, step: ast.AST) -> None:
    """Say where a rate is set with each step, by a count of them."""
    program = plan.program
    around = next(loops_around(step, program), None), program.function(step)
    for place, rate in rates.settings(program):
        here = next(loops_around(place, program), None), program.function(place)
        counter = around[0] or around[1]
        if here == around and counter is not None:
            rates.set_by_batch(plan, rate, counter)


def _same_data(whole: list[Update], plan: Plan) -> None:
    """Every rank takes the same steps on the same data. Raises `Refuse` where nothing else is possible."""
    for update in whole:
        if _is_one(update, plan.program):
            raise Refuse(
                "HVD213",
                update.call,
                "a single variable is optimized and there is no data to shard",
                "run several of these independently",
            )
        plan.warn(
            "HVD302",
            update.call,
            "cannot identify the input batch of this training step; data is not sharded and the learning rate is not scaled",
            "shard the data and multiply the learning rate by the number of ranks",
        )


def _is_one(update: Update, program: Program) -> bool:
    """Whether an update changes a single variable."""
    if update.kind == "minimize":
        variables = argument(update.call, 1, "var_list")
        return isinstance(variables, ast.List | ast.Tuple) and len(variables.elts) == 1
    asked = [gradients.sources_of(each) for each in update.gradients]
    lists = [each for each in asked if isinstance(each, ast.List | ast.Tuple)]
    if len(lists) == len(asked):
        return all(len(each.elts) == 1 for each in lists)
    return all(gradients.sources_kind(each, program) == "one" for each in update.gradients)


@remembered
def _groups(program: Program) -> dict[ast.AST, list[Update]]:
    groups: dict[ast.AST, list[Update]] = defaultdict(list)
    for update in sorted(updates(program), key=lambda each: each.call.lineno):
        groups[owner_of(update.call, program)].append(update)
    return groups


def _loop(group: list[Update], program: Program) -> Loop:
    inside = of_fit(group[0].call, program)
    return Loop(
        "HVD101",
        group[0].call,
        "a `train_step` of its own" if inside else "a loop over a gradient tape",
        "keras" if inside else "tensorflow",
        tuple(update.optimizer for update in group),
    )


def of_fit(node: ast.AST, program: Program) -> bool:
    """Whether an update stands in a `train_step` that only `fit` calls: its data and its weights are those of `fit`."""
    method = train_step(node, program)
    return method is not None and not program.calling(method)


def train_step(node: ast.AST, program: Program) -> ast.FunctionDef | None:
    """The method around a node that `fit` calls for each batch, if it is one."""
    for above in program.ancestors(node):
        if isinstance(above, ast.FunctionDef) and above.name == "train_step":
            owner = program.parent(above)
            if isinstance(owner, ast.ClassDef):
                bases = [base.name for base in program.lineage(Class(owner)) if hasattr(base, "name")]
                return above if any(name.startswith("keras.") for name in bases) else None
    return None


def _refuse(group: list[Update]) -> None:
    for update in group:
        if update.kind == "by hand":
            raise Refuse(
                "HVD203",
                update.call,
                f"`{ast.unparse(update.call)[:60]}` updates variables by hand, without a library's optimizer",
                "let an optimizer such as `tf.keras.optimizers.SGD` apply the gradients",
            )
        if update.kind == "apply_gradients" and not update.gradients:
            raise Refuse(
                "HVD209",
                update.call,
                "cannot determine which tape computed these gradients",
                "compute them in the same program, and pass them as variables and arguments",
            )


FLOW = TapeFlow()
__all__ = ["FLOW", "TapeFlow", "of_fit", "train_step"]
