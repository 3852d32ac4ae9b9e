"""Estimators that bring their own model: their optimizers by object, by name, or by default."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.flows.session_config import module_of
from distml.rewrites.horovod.flows.session_graph import makes_optimizer
from distml.rewrites.horovod.flows.session_optimizers import scale, wrap
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.training.program import Program
from distml.training.values import Callable, Class, Constant, Foreign

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

_NOTE = Note(
    "an optimizer that averages gradients over the ranks",
    "the estimator would make one of its own, which knows of no other process",
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
    if ".compat.v1" in module_of(maker, program) and not _first(maker, program):
        raise Refuse(
            "HVD205",
            maker,
            f"`{ast.unparse(maker.func)}` of TensorFlow 2 takes optimizers of Keras only, whose gradients Horovod does not "
            "average there",
            f"use `{module_of(maker, program)}.estimator`, or write the model as a `model_fn`",
        )
    known = next((parameters for name, parameters in _DEFAULTS.items() if name in names), None)
    if known is None:
        raise Refuse(
            "HVD205",
            maker,
            f"`{ast.unparse(maker.func)}` trains in a way that no optimizer can be given to",
            "write the model as a `model_fn`",
        )
    for parameter, default in known:
        _given(plan, maker, parameter, default)
    return True


def _first(maker: ast.Call, program: Program) -> bool:
    """Whether an estimator is that of `compat.v1`."""
    return any(
        "tensorflow.compat.v1" in program.names(node) or (isinstance(node, ast.Attribute) and node.attr == "v1")
        for node in ast.walk(maker.func)
    )


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
            raise Refuse("HVD205", given, f"nobody knows the optimizer {name!r}", "give an optimizer as an object")
        patch.wrap(given, _new(plan, maker, str(name), parameter), _NOTE)
        return
    made = [v.node for v in held if isinstance(v, Foreign) and v.node is not None and makes_optimizer(v.node, program)]
    bodies = [v.node.body for v in held if isinstance(v, Callable) and isinstance(v.node, ast.Lambda)]
    calls = [each for each in (*made, *bodies) if isinstance(each, ast.Call)]
    if not calls and any(isinstance(v, Class | Foreign) and getattr(v, "node", 0) is None for v in held):
        patch.wrap(given, f"{world.module}.DistributedOptimizer({{}}())", _NOTE)
    elif not calls:
        raise Refuse(
            "HVD205",
            given,
            "nobody can see which optimizer is given here",
            "make the optimizer in the files that are given",
        )
    for call in calls:
        wrap(plan, call)
        scale(plan, call)


def _new(plan: Plan, maker: ast.Call, name: str, parameter: str) -> str:
    """The optimizer that a name stands for, made to average gradients."""
    kind, rate = _NAMED[name]
    world = plan.world(maker)
    columns = next((k.value for k in maker.keywords if k.arg in ("feature_columns", "linear_feature_columns")), None)
    if columns is None and maker.args and kind == "FtrlOptimizer":
        columns = maker.args[0]
    if kind == "FtrlOptimizer" and isinstance(columns, ast.Name | ast.Attribute):
        rate = f"min({rate}, len({ast.unparse(columns)}) ** -0.5)"
    scaled = rate if plan.options.scale_lr == "none" else f"{rate} * {world.size}"
    return f"{world.module}.DistributedOptimizer({module_of(maker, plan.program)}.train.{kind}({scaled}))"
