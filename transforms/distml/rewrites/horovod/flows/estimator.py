"""Training by `tf.estimator`: the optimizer in the `model_fn`, the call of `train`, and the files of rank 0.

https://github.com/horovod/horovod/blob/v0.28.1/docs/tensorflow.rst, examples/tensorflow/tensorflow_mnist_estimator.py
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from distml.rewrites.horovod.aspects.outputs import guard
from distml.rewrites.horovod.aspects.reloads import only_shown
from distml.rewrites.horovod.aspects.spelling import module_of
from distml.rewrites.horovod.flows import estimator_inputs, session_config, session_hooks, session_optimizers
from distml.rewrites.horovod.flows.estimator_premade import premade
from distml.rewrites.horovod.flows.fit import prepared
from distml.rewrites.horovod.flows.session_graph import Graph, graph_of
from distml.rewrites.horovod.flows.session_steps import divide_number
from distml.rewrites.horovod.notes import ONE_GPU
from distml.rewrites.horovod.plan import Loop, Plan, Refuse
from distml.training.callers import upwards
from distml.training.callsites import argument, positional
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import is_given, method_name, receiver_of
from distml.training.values import Callable, Foreign

ESTIMATOR = re.compile(
    r"tensorflow\.(estimator|contrib\.(learn|estimator))\.(\w+\.)*(Estimator|\w+(Classifier|Regressor|Estimator))\(\)"
    r"|keras\.estimator\.model_to_estimator\(\)"
)
_CONFIGURES = re.compile(r"\bRunConfig\(\)(\.replace\(\))*$")


class EstimatorFlow:
    """Calls of `train` on estimators, and of `train_and_evaluate`."""

    def find(self, program: Program) -> list[Loop]:
        """One for each such call."""
        graph = graph_of(program)
        made = tuple(session_optimizers.optimizers(graph))
        return [Loop("HVD105", call, "estimator", "session", made) for call in trainings(program)]

    def plan(self, loop: Loop, plan: Plan) -> None:
        """Raises `Refuse` (HVD205) where the optimizer of an estimator is not seen."""
        assert isinstance(loop.node, ast.Call)
        graph, program = graph_of(plan.program), plan.program
        plan.world(loop.node)
        plan.once(prepared.in_sessions)
        makers, told = _makers(loop.node, program), _told_of(loop.node, program)
        divided = [_divided(plan, each) for each in told]
        if not any(divided):
            plan.keep_rates()
        _optimizers(plan, graph, makers, loop.node)
        for maker in makers:
            _made(plan, maker)
            _reported(plan, maker)
        session_hooks.refuse_stops(plan)
        plan.once(session_hooks.stops, *session_hooks.KEPT, session_hooks.quiet_library, _exported)
        for each, larger in zip(told, divided, strict=True):
            _trained(plan, each, larger)


def trainings(program: Program) -> list[ast.Call]:
    """The calls that train estimators, in the order of the files."""
    return [call for call in program.calls if _is_training(call, program) or _is_together(call, program)]


def _is_training(call: ast.Call, program: Program) -> bool:
    named = method_name(call) in ("train", "fit")
    return named and program.matches(receiver_of(call), ESTIMATOR)


def _is_together(call: ast.Call, program: Program) -> bool:
    return "tensorflow.estimator.train_and_evaluate" in program.names(call.func)


@dataclass(frozen=True)
class Told:
    """Where a training is told its data, first, and how many steps; `hooks` is the position of its hooks."""

    call: ast.Call
    numbers: tuple[ast.expr, ...]
    hooks: int

    @property
    def given(self) -> ast.expr | None:
        """The input function."""
        return argument(self.call, 0, "input_fn")


def _told_of(training: ast.Call, program: Program) -> list[Told]:
    """The same. Raises `Refuse` (HVD205) where it is not seen: nobody would send the weights of rank 0 to the others."""
    found = _told(training, program)
    if not found:
        raise Refuse(
            "HVD205",
            training,
            "cannot determine where this training is told its data and hooks: no `TrainSpec` is seen",
            "give the file that makes it as well",
        )
    return found


def _told(call: ast.Call, program: Program) -> list[Told]:
    """What a call that trains is told, or the specification that it is given."""
    if _is_together(call, program):
        return [Told(spec, _numbers(spec, ((1, "max_steps"),)), 2) for spec in _specs(call, program)]
    return [Told(call, _numbers(call, ((2, "steps"), (3, "max_steps"))), 1)]


def _numbers(call: ast.Call, places: tuple[tuple[int, str], ...]) -> tuple[ast.expr, ...]:
    """The numbers of steps that are given."""
    found = [argument(call, position, name) for position, name in places]
    return tuple(n for n in found if is_given(n))


@remembered
def _inputs(program: Program) -> dict[ast.expr, bool]:
    """The input functions of all trainings, and whether the number of steps is given beside them."""
    told = [each for call in trainings(program) for each in _told(call, program)]
    return {each.given: bool(each.numbers) for each in told if each.given is not None}


def _makers(call: ast.Call, program: Program) -> list[ast.Call]:
    """The calls that make the estimators which a call trains."""
    if _is_together(call, program):
        held = program.of(argument(call, 0, "estimator"))
    else:
        assert isinstance(call.func, ast.Attribute)
        held = program.of(call.func.value)
    found = [v.node for v in held if isinstance(v, Foreign) and ESTIMATOR.fullmatch(v.name)]
    return program.ordered(each for each in found if isinstance(each, ast.Call))


def _specs(call: ast.Call, program: Program) -> list[ast.Call]:
    held = program.of(argument(call, 1, "train_spec"))
    found = [v.node for v in held if isinstance(v, Foreign) and v.name.endswith("TrainSpec()")]
    return program.ordered(each for each in found if isinstance(each, ast.Call))


def _optimizers(plan: Plan, graph: Graph, makers: list[ast.Call], training: ast.Call) -> None:
    """Have the gradients of each estimator averaged. Raises `Refuse` (HVD205) where it, or what steps it, is not seen."""
    if not makers or not all(premade(plan, maker) or _updates(maker, graph) for maker in makers):
        raise Refuse(
            "HVD205",
            training,
            "cannot determine which optimizer the `model_fn` of this estimator uses",
            "give the file that makes it as well",
        )
    session_optimizers.distribute(plan)


def _updates(maker: ast.Call, graph: Graph) -> bool:
    """Whether the `model_fn` of an estimator comes to an update that is seen; where it is not known, whether one is seen."""
    program = graph.program
    models = {*program.functions(argument(maker, 0, "model_fn"))}
    reached = (node for each in upwards(graph.updates, program) for node in (each, *program.ancestors(each)))
    return not models.isdisjoint(reached) if models else bool(graph.updates)


def _made(plan: Plan, maker: ast.Call) -> None:
    """Only rank 0 has a folder for the model; each process has its own GPU."""
    program = plan.program
    given = argument(maker, 1, "model_dir")
    if given is not None and _is_folder(maker, given):
        session_hooks.folder(plan, maker, 1, "model_dir")
    config = argument(maker, 2, "config")
    calls = _configurations(config, program)
    made = [call for call in calls if method_name(call) != "replace"]
    for call in calls:
        session_hooks.folder(plan, call, 0 if call in made else 99, "model_dir")
    for call in [each for each in calls if argument(each, 99, "session_config") is not None] or made:
        session_config.place(plan, call, "session_config", 99, module_of(call, program))
    if not is_given(config):
        module = module_of(maker, program)
        if "config" not in plan.patch(maker).requests.keywords.get(maker, {}):
            name = session_config.new(plan, maker, module)
            code = f"{module}.estimator.RunConfig(session_config={name})"
            plan.patch(maker).keyword(maker, "config", code, ONE_GPU)


def _configurations(config: ast.expr | None, program: Program) -> list[ast.Call]:
    """The calls that make a configuration: `RunConfig(...)`, and `.replace(...)` of what others make."""
    found: list[ast.Call] = []
    waiting = [config]
    while waiting:
        for value in program.of(waiting.pop()):
            call = value.node if isinstance(value, Foreign) and _CONFIGURES.search(value.name) else None
            if isinstance(call, ast.Call) and call not in found:
                found.append(call)
                waiting.append(receiver_of(call))
    return program.ordered(found)


def _reported(plan: Plan, maker: ast.Call) -> None:
    """Warn of the numbers that the `model_fn` of an estimator records: they are of the batches of rank 0."""
    program = plan.program
    given = program.of(argument(maker, 0, "model_fn"))
    models = [value.node for value in given if isinstance(value, Callable)]
    fed = [(model, name) for model in models for name in positional(model)[:2]]
    for call in program.calls_of("tensorflow.summary.scalar"):
        told = argument(call, 1, "tensor", "data")
        read = [each for each in program.sources(told) if isinstance(each, ast.Name)] if told is not None else []
        if any((program.function(each), each.id) in fed for each in read):
            what = f"`{ast.unparse(call)[:60]}` reports what rank 0 computes from its part of the data"
            plan.warn("HVD313", call, what, "take the mean over the ranks first, or say that it is rank 0's")


def _exported(plan: Plan) -> None:
    """Models are exported by rank 0, where nothing more is done with the path than to print it."""
    for call in plan.program.calls:
        names = plan.program.names(call.func) if plan.may_change(call) else ()
        if any(ESTIMATOR.match(name) and name.rpartition(".")[2].startswith("export_saved") for name in names):
            statement = plan.program.statement(call)
            alone = getattr(statement, "value", None) is call
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            printed = bool(targets) and all(only_shown(each, plan.program) for each in targets)
            if alone and (isinstance(statement, ast.Expr) or printed):
                guard(plan, statement, "file")


def _is_folder(maker: ast.Call, given: ast.expr) -> bool:
    """Whether the second argument is the folder: estimators with a `model_fn` take it there, others only by name."""
    return any(k.value is given for k in maker.keywords) or ast.unparse(maker.func).endswith("Estimator")


def _divided(plan: Plan, told: Told) -> bool:
    """Give a training the rank's part of its data. False where all ranks may train on the same."""
    if told.given is None or plan.options.shard != "auto":
        return True
    return estimator_inputs.divide(plan, told.given, _inputs(plan.program))


def _trained(plan: Plan, told: Told, larger: bool) -> None:
    """From equal weights, and fewer steps if a step of all ranks together is a `larger` one."""
    if plan.options.shard != "none" and larger:
        for number in told.numbers:
            divide_number(plan, number, some=True)
    session_hooks.broadcast(plan, told.call, argument(told.call, told.hooks, "hooks"), "hooks")


FLOW = EstimatorFlow()
