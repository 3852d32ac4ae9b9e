"""Files that rank 0 writes and all ranks read: saved models, weights, what is in a folder of checkpoints."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from distml.rewrites.horovod.aspects.outputs import private
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.fit.models import TRAINING, Given, calls, literal
from distml.rewrites.horovod.flows.fit.optimizers import CLASSES
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callers import run_by
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import is_literal, method_name
from distml.training.values import Class, Foreign

_WAIT = Note(
    "waits until rank 0 has written", "the other ranks would read a file that is not there yet", "file-written"
)
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
_READS = re.compile(
    r"keras\.models\.load_model|keras\.saving\.load_model|tensorflow\.saved_model\.load|tensorflow\.train\.latest_checkpoint"
    r"|os\.(listdir|walk)|glob\.(glob|iglob)|pandas\.read_csv|numpy\.load|pickle\.load|json\.load"
)
_LOADS = {"keras.models.load_model", "keras.saving.load_model"}
_SAVES = {"save", "save_weights"}
_SAVING = {"keras.models.save_model", "keras.saving.save_model", "tensorflow.saved_model.save"}
Module = Callable[[Plan, ast.AST], str]
"""How the file of a node spells Horovod's module for Keras."""
_CHECKPOINTS = {"keras.callbacks.ModelCheckpoint()", "keras.callbacks.CSVLogger()"}


def wait_for_writes(plan: Plan, module: Module) -> None:
    """Let all ranks wait behind what rank 0 writes, where the program reads files afterwards."""
    reads = [call for call in plan.program.calls if _is_read(call, plan.program)]
    for write in _writes(plan.program):
        unit = plan.program.unit(write)
        statement = plan.program.statement(write)
        later = not private(write, plan.program) and any(_after(read, write, plan.program) for read in reads)
        if later and unit.source.location in plan.worlds and not _for_rank_zero(write, plan.program):
            if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign):
                plan.patch(statement).after(statement, f'{module(plan, write)}.allreduce(0, name="written")', _WAIT)


def _is_read(call: ast.Call, program: Program) -> bool:
    method = method_name(call)
    return method == "load_weights" or program.matches(call.func, _READS)


def _writes(program: Program) -> Iterator[ast.Call]:
    models = [call for method in ("fit", "fit_generator") for call in calls(program, method)]
    for call in models:
        arguments = Given(call, program)
        for node in arguments.all("callbacks"):
            if any(isinstance(s, ast.Call) and program.names(s) & _CHECKPOINTS for s in program.sources(node)):
                yield call
                break
    for call in program.calls:
        func = call.func
        if program.names(func) & _SAVING:
            yield call
        elif isinstance(func, ast.Attribute) and func.attr in _SAVES and not run_by(call, program):
            if func.attr == "save_weights" or any(
                re.fullmatch(r"keras\.(Model|Sequential)\(\)(\.\w+\(\))?", name) for name in program.names(func.value)
            ):
                yield call


def _after(read: ast.Call, write: ast.Call, program: Program) -> bool:
    """Whether a read can follow a write: it stands below it, in another function or file, or in a loop with it."""
    if program.unit(read) is not program.unit(write) or program.function(read) is not program.function(write):
        return True
    if (read.lineno, read.col_offset) > (write.lineno, write.col_offset):
        return True
    around = {each for each in program.ancestors(write) if isinstance(each, ast.For | ast.While)}
    return any(each in around for each in program.ancestors(read))


def _for_rank_zero(node: ast.AST, program: Program) -> bool:
    """Whether a node is run by callbacks, which may be those of rank 0 alone: a method of one, or how a model is saved."""
    function = program.function(node)
    if function is not None and getattr(function, "name", "") in _SAVES and not program.calling(function):
        return True
    return any(
        isinstance(above, ast.ClassDef)
        and any(isinstance(base, Foreign) and "allback" in base.name for base in program.lineage(Class(above)))
        for above in program.ancestors(node)
    )


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
