"""Estimators that bring their own model: their optimizers by object, by name, or by default."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.spelling import module_of
from distml.rewrites.horovod.flows.session_graph import makes_optimizer
from distml.rewrites.horovod.flows.session_optimizers import scale, wrap
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.source.nodes import walk
from distml.training.program import Program
from distml.training.values import Callable, Class, Constant, Foreign, Values

_DEFAULTS = {
    "DNNClassifier": (("optimizer", "Adagrad"),),
    "DNNRegressor": (("optimizer", "Adagrad"),),
    "DNNEstimator": (("optimizer", "Adagrad"),),
    "LinearClassifier": (("optimizer", "Ftrl"),),
    "LinearRegressor": (("optimizer", "Ftrl"),),
    "LinearEstimator": (("optimizer", "Ftrl"),),
    "DNNLinearCombinedClassifier": (("linear_optimizer", "Ftrl"), ("dnn_optimizer", "Adagrad")),
    "DNNLinearCombinedRegressor": (("linear_optimizer", "Ftrl"), ("dnn_optimizer", "Adagrad")),
    "DNNLinearCombinedEstimator": (("linear_optimizer", "Ftrl"), ("dnn_optimizer", "Adagrad")),
}
"""The optimizers of each, by parameter. https://www.tensorflow.org/api_docs/python/tf/compat/v1/estimator"""

_NAMED = {
    "Adagrad": ("AdagradOptimizer", "0.05"),
    "Adam": ("AdamOptimizer", "0.001"),
    "Ftrl": ("FtrlOptimizer", "0.2"),
    "RMSProp": ("RMSPropOptimizer", "0.001"),
    "SGD": ("GradientDescentOptimizer", "0.05"),
}
"""What the names mean and the rates they stand for: 0.05 for deep models; Adam and RMSProp as they come."""

_KERAS = {"RMSProp": "RMSprop"}
"""The names that Keras writes otherwise."""

_NOTE = Note(
    "an optimizer that averages gradients over the ranks",
    "the estimator would create its own optimizer, which is not distributed",
    "distributed-optimizer",
)


def premade(plan: Plan, maker: ast.Call) -> bool:
    """Give a premade estimator optimizers that average gradients; False for one that has a `model_fn`.

    Raises `Refuse` (HVD205) where its optimizer cannot be replaced.
    """
    program = plan.program
    names = {name.rpartition(".")[2] for name in program.names(maker.func)}
    if names & {"Estimator"}:
        return False
    if "model_to_estimator" in names:
        raise Refuse(
            "HVD205",
            maker,
            "the estimator copies the optimizer that the Keras model was compiled with, and the copy is not distributed",
            "train the Keras model with `fit`, or write a `model_fn` with a tf.train optimizer",
        )
    known = next((parameters for name, parameters in _DEFAULTS.items() if name in names), None)
    if known is None:
        raise Refuse(
            "HVD205",
            maker,
            f"`{ast.unparse(maker.func)}` trains without taking an optimizer",
            "write the model as a `model_fn`",
        )
    for parameter, default in known:
        _given(plan, maker, parameter, default)
    return True


def _second(maker: ast.Call, program: Program) -> bool:
    """Whether an estimator is that of TensorFlow 2, which takes optimizers of Keras."""
    own = any(
        "tensorflow.compat.v1" in program.names(node) or (isinstance(node, ast.Attribute) and node.attr == "v1")
        for node in walk(maker.func)
    )
    return not own and module_of(maker, program).endswith(".compat.v1")


def _given(plan: Plan, maker: ast.Call, parameter: str, default: str) -> None:
    program, world, patch = plan.program, plan.world(maker), plan.patch(maker)
    given = next((k.value for k in maker.keywords if k.arg == parameter), None)
    if given is None:
        patch.keyword(maker, parameter, _new(plan, maker, default, parameter), _NOTE)
        return
    held = program.of(given)
    if held and all(isinstance(value, Constant) for value in held):
        (name, *_) = [value.value for value in held if isinstance(value, Constant)]
        if name not in _NAMED:
            raise Refuse("HVD205", given, f"unknown optimizer {name!r}", "give an optimizer as an object")
        patch.wrap(given, _new(plan, maker, str(name), parameter), _NOTE)
        return
    calls = _makers(held, program)
    if not calls and any(isinstance(v, Class | Foreign) and getattr(v, "node", 0) is None for v in held):
        patch.wrap(given, f"{world.module}.DistributedOptimizer({{}}())", _NOTE)
    elif not calls:
        raise Refuse(
            "HVD205",
            given,
            "cannot determine which optimizer is given here",
            "make the optimizer in the files that are given",
        )
    for call in calls:
        scale(plan, call)
        if not _second(maker, program):
            wrap(plan, call)
        elif call is given:
            patch.wrap(given, f"lambda: {world.module}.DistributedOptimizer({{}})", _NOTE)
        else:
            plan.patch(call).wrap(call, f"{world.module}.DistributedOptimizer({{}})", _NOTE)


def _makers(held: Values, program: Program) -> list[ast.Call]:
    """The calls that make an optimizer, which is given itself or by a lambda."""
    objects = [v.node for v in held if isinstance(v, Foreign) and v.node is not None]
    made = [
        each
        for each in objects
        if makes_optimizer(each, program) or any(name.startswith("keras.optimizers.") for name in program.callee(each))
    ]
    bodies = [v.node.body for v in held if isinstance(v, Callable) and isinstance(v.node, ast.Lambda)]
    return [each for each in (*made, *bodies) if isinstance(each, ast.Call)]


def _new(plan: Plan, maker: ast.Call, name: str, parameter: str) -> str:
    """The optimizer that a name stands for, made to average gradients."""
    world, module = plan.world(maker), module_of(maker, plan.program)
    second = _second(maker, plan.program)
    kind, rate = _NAMED[name]
    linear = parameter == "linear_optimizer" or ast.unparse(maker.func).rpartition(".")[2].startswith("Linear")
    if linear:
        rate = _linear(maker, name)
    elif second:
        rate = "0.01" if name == "SGD" else "0.001"
    scaled = rate if plan.options.scale_lr == "none" else f"{rate} * {world.size}"
    if second:
        keras = f"{module.removesuffix('.compat.v1')}.keras.optimizers.legacy.{_KERAS.get(name, name)}"
        return f"lambda: {world.module}.DistributedOptimizer({keras}({scaled}))"
    return f"{world.module}.DistributedOptimizer({module}.train.{kind}({scaled}))"


def _linear(maker: ast.Call, name: str) -> str:
    """The rate of linear models, which for the default depends on the number of columns."""
    columns = next((k.value for k in maker.keywords if k.arg in ("feature_columns", "linear_feature_columns")), None)
    columns = maker.args[0] if columns is None and maker.args else columns
    if name == "Ftrl" and isinstance(columns, ast.Name | ast.Attribute):
        return f"min(0.2, len({ast.unparse(columns)}) ** -0.5)"
    return "0.2"
