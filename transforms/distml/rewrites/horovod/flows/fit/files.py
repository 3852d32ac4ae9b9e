"""Models that were saved, loaded with their optimizers."""

from __future__ import annotations

import ast
from collections.abc import Callable

from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.fit.models import TRAINING, Given, calls, literal
from distml.rewrites.horovod.flows.fit.optimizers import CLASSES
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import is_literal, method_name
from distml.training.values import Foreign

_LOAD = Note(
    "optimizer found again in the saved model",
    "the model was saved with Horovod's optimizer subclass, which Keras cannot find by itself",
    "load-model",
)
_WRAP = Note(
    "gradients of the loaded model averaged over the ranks",
    "a model that is loaded brings an optimizer that knows of one process only",
    "distributed-optimizer",
)
_LOADS = {"keras.models.load_model", "keras.saving.load_model"}
_SAVING = {"keras.models.save_model", "keras.saving.save_model", "tensorflow.saved_model.save"}
Module = Callable[[Plan, ast.AST], str]
"""How the file of a node spells Horovod's module for Keras."""


def load_saved(plan: Plan, module: Module) -> None:
    """Let models that the program saved be loaded with their optimizers, and those that are trained on be distributed."""
    program = plan.program
    made = sorted(_optimizers(program))
    trained = _trained(program)
    for call in program.calls:
        if not program.names(call.func) & _LOADS or program.unit(call).source.location not in plan.editable:
            continue
        if _saves_whole(program) and made and not _readable(call, program):
            _named(plan, call, made)
        statement = program.statement(call)
        if call in trained and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            model = ast.unparse(statement.targets[0])
            code = f"{model}.optimizer = {module(plan, call)}.DistributedOptimizer({model}.optimizer)"
            plan.patch(statement).after(statement, code, _WRAP)
        elif call in trained and isinstance(statement, ast.Return) and statement.value is call:
            given = f'setattr(model, "optimizer", {module(plan, call)}.DistributedOptimizer(model.optimizer))'
            plan.patch(call).wrap(call, f"(lambda model: {given} or model)({{}})", _WRAP)


def _named(plan: Plan, call: ast.Call, made: list[str]) -> None:
    items = ", ".join(f'"{name}": {spell(plan, call, f"keras.optimizers.{name}")}' for name in made)
    own = argument(call, 1, "custom_objects")
    if own is not None:
        plan.patch(own).wrap(own, f"{{**({ast.unparse(own)}), {items}}}", _LOAD)
    else:
        plan.patch(call).keyword(call, "custom_objects", f"{{{items}}}", _LOAD)


def _readable(call: ast.Call, program: Program) -> bool:
    """Whether a call loads a format, or without what, Keras needs no help to find the optimizer."""
    compiled = argument(call, 2, "compile")
    if is_literal(compiled, False):
        return True
    path = argument(call, 0, "filepath")
    ends = [str(each) for each in literal(path, program)]
    return bool(ends) and all(not each.endswith(".keras") for each in ends)


def _saves_whole(program: Program) -> bool:
    return any(
        program.names(call.func) & _SAVING
        or (method_name(call) == "save")
        or "keras.callbacks.ModelCheckpoint" in program.names(call.func)
        for call in program.calls
    )


def _optimizers(program: Program) -> set[str]:
    """The classes of optimizers that models are compiled with."""
    found: set[str] = set()
    for call in calls(program, "compile"):
        for node in Given(call, program).all("optimizer"):
            kinds = {str(each).lower() for each in literal(node, program)}
            kinds |= {name.removesuffix("()").rpartition(".")[2].lower() for name in program.names(node)}
            found |= {CLASSES[each] for each in kinds if each in CLASSES}
    return found


def _trained(program: Program) -> set[ast.AST]:
    """The loads whose models are trained without being compiled again."""
    fits = {n for method in TRAINING for n in _loaded(program, method)}
    return fits - _loaded(program, "compile")


def _loaded(program: Program, method: str) -> set[ast.AST]:
    return {
        value.node
        for call in calls(program, method)
        for value in program.of(Given(call, program).model)
        if isinstance(value, Foreign) and value.node is not None and value.name.endswith("load_model()")
    }
