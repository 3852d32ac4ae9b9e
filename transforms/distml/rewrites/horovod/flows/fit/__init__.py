"""Keras models that train themselves: `compile` and `fit`, `fit_generator`, `train_on_batch`.

The recipe is that of https://horovod.readthedocs.io/en/stable/keras.html, with the data divided among the ranks.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects import environments, rates
from distml.rewrites.horovod.aspects.setup import behind_start
from distml.rewrites.horovod.aspects.versions import modern
from distml.rewrites.horovod.flows.fit import (
    batches,
    callbacks,
    data,
    files,
    moving,
    optimizers,
    prepared,
    sessions,
    shown,
)
from distml.rewrites.horovod.flows.fit.models import SHOWING, TRAINING, Given, calls
from distml.rewrites.horovod.plan import Loop, Note, Plan
from distml.training.program import Program

_CODE = "HVD102"
_VERBOSE = Note("prints on rank 0 only", "every rank would draw a progress bar of its own", "verbose")
_MODULE = Note("Horovod's Keras module", "callbacks and optimizers of Keras have a module of their own", "start-up")


class Fit:
    """Programs that train Keras models by their own methods."""

    def find(self, program: Program) -> list[Loop]:
        """The calls that train."""
        return [
            Loop(_CODE, call, f"`{ast.unparse(call.func)}`", "keras")
            for method in TRAINING
            for call in calls(program, method)
            if not Given(call, program).on_super
        ]

    def plan(self, loop: Loop, plan: Plan) -> None:
        """Ask for the changes of one call that trains; with the first, for those of the program as a whole."""
        assert isinstance(loop.node, ast.Call)
        if _aside(loop.node, plan):
            return
        environments.refuse(loop.node, plan.program)
        arguments = Given(loop.node, plan.program)
        module = _module(plan, loop.node)
        if loop is _first(plan):
            _whole(plan)
        if arguments.method != "train_on_batch":
            callbacks.arrange(plan, module, arguments)
            data.share(plan, arguments)
            moving.average(plan, module, arguments)
            _quiet(plan, arguments)


def _first(plan: Plan) -> Loop:
    """The loop with which the changes of the program as a whole are made."""
    return next(each for each in plan.loops if each.code == _CODE and not _aside(each.node, plan))


def _aside(node: ast.AST, plan: Plan) -> bool:
    """Whether a call that trains is in a module that is only imported, and in a function that nobody else calls."""
    program = plan.program
    unit, function = program.unit(node), program.function(node)
    if unit.source.location in plan.editable or function is None:
        return False
    return not any(program.unit(call) is not unit for call in program.calling(function))


def _whole(plan: Plan) -> None:
    program = plan.program
    trainings = [each.node for each in plan.loops if each.code == _CODE]
    optimizers.refuse_unseen(plan, trainings)
    if plan.options.shard != "none" and not any(_is_larger(each, program) for each in trainings):
        plan.keep_rates()
    for call in calls(program, "compile"):
        if _aside(call, plan):
            continue
        optimizers.distribute(plan, _module(plan, call), call)
    rates.scale_settings(plan)
    callbacks.driven(plan)
    callbacks.set_rates(plan)
    guarded = shown.on_rank_zero(plan)
    for method in SHOWING:
        for call in (each for each in calls(program, method) if each not in guarded):
            if plan.may_change(call) and not Given(call, program).on_super:
                _quiet(plan, Given(call, program))
    plan.once(prepared.alike)
    batches.train(plan, _module)
    files.load_saved(plan, _module)
    sessions.choose_gpu(plan)


def _is_larger(call: ast.AST, program: Program) -> bool:
    arguments = Given(call, program) if isinstance(call, ast.Call) else None
    return arguments is None or arguments.method == "train_on_batch" or data.is_larger(arguments)


def _module(plan: Plan, node: ast.AST) -> str:
    """The name of `horovod.tensorflow.keras` in the file of a node."""
    world = plan.world(node)
    if all(loop.start == "keras" for loop in plan.loops):
        return world.module
    unit = plan.program.unit(node)
    key = (unit.source.location, "horovod.tensorflow.keras")
    if key not in plan.spelled:
        plan.spelled[key] = plan.patch(node).free("hvd_keras")
        behind_start(plan, unit, f"import horovod.tensorflow.keras as {plan.spelled[key]}", _MODULE, imports=True)
    return plan.spelled[key]


def _quiet(plan: Plan, arguments: Given) -> None:
    """Progress bars on rank 0, as the program wants them."""
    call, first = arguments.call, plan.world(arguments.call).first
    verbose = arguments.text("verbose")
    if verbose is None:
        older = arguments.method == "predict" and not modern(plan.program)  # it shows one unless told only since 2.9
        silent = older or arguments.method in SHOWING[2:]
        if not silent and not any(keyword.arg is None for keyword in call.keywords):
            plan.patch(call).keyword(call, "verbose", f"1 if {first} else 0", _VERBOSE)
    elif not (isinstance(verbose, ast.Constant) and verbose.value in (0, False)):
        plan.patch(verbose).wrap(verbose, f"{{}} if {first} else 0", _VERBOSE)


FLOW = Fit()
