"""Calls of Keras models, and their arguments by name.

https://www.tensorflow.org/versions/r2.15/api_docs/python/tf/keras/Model
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from distml.rewrites.horovod.aspects.origins import values_at
from distml.source.nodes import walk
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import is_literal, nodes_in
from distml.training.unit import Unit
from distml.training.values import Box, Callable, Constant, Foreign, Instance, Values

_MODEL = re.compile(
    r"keras\.(Model|Sequential)\(\)(\[\])?|keras\.applications\.(\w+\.)?\w+\(\)"
    r"|(keras\.models|keras\.saving|keras)\.(load_model|clone_model|model_from_\w+)\(\)"
    r"|keras\.\w+\.from_config\(\)|keras\.(Model|Sequential)\.from_config\(\)"
)
_NO_MODEL = re.compile(
    r"(tensorflow\.(contrib\.)?(estimator|learn)|keras\.estimator"
    r"|sklearn|xgboost|lightgbm|catboost|statsmodels|torch|pytorch_lightning|fastai|builtins|re)\b.*"
)
_TELLING = {
    "compile": {"optimizer", "loss", "metrics"},
    "fit": {"epochs", "nb_epoch", "steps_per_epoch", "validation_data", "validation_split", "callbacks"},
    "fit_generator": set[str](),
    "train_on_batch": set[str](),
    "evaluate": {"verbose", "batch_size", "steps"},
    "predict": {"verbose", "batch_size", "steps"},
    "evaluate_generator": set[str](),
    "predict_generator": set[str](),
}
TRAINING = ("fit", "fit_generator", "train_on_batch")
"""The methods of a model that train it."""

_REPLACEABLE = frozenset({*TRAINING, "evaluate", "predict"})

_OLDER = "generator steps callbacks max_queue_size workers use_multiprocessing verbose".split()
SHOWING = ("evaluate", "predict", "evaluate_generator", "predict_generator")
"""The methods beside training that can show a progress bar; the older two show none unless they are told to."""
SIGNATURES = {
    "fit": (
        "x y batch_size epochs verbose callbacks validation_split validation_data shuffle class_weight sample_weight "
        "initial_epoch steps_per_epoch validation_steps validation_batch_size validation_freq max_queue_size workers "
        "use_multiprocessing"
    ).split(),
    "fit_generator": (
        "generator steps_per_epoch epochs verbose callbacks validation_data validation_steps validation_freq class_weight "
        "max_queue_size workers use_multiprocessing shuffle initial_epoch"
    ).split(),
    "evaluate": "x y batch_size verbose sample_weight steps callbacks".split(),
    "predict": "x batch_size verbose steps callbacks".split(),
    "evaluate_generator": _OLDER,
    "predict_generator": _OLDER,
    "compile": "optimizer loss metrics loss_weights weighted_metrics run_eagerly steps_per_execution".split(),
    "train_on_batch": "x y sample_weight class_weight reset_metrics".split(),
}
"""The parameters of a model's methods, in their order."""


def calls(program: Program, method: str) -> Iterator[ast.Call]:
    """The calls of a method on what is, or by its arguments must be, a Keras model."""
    for call in program.calls:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == method and _of_model(call, func, program):
            yield call


def _of_model(call: ast.Call, func: ast.Attribute, program: Program) -> bool:
    if func.attr in _REPLACEABLE and _replaced(func, program):
        return False
    here = [each.name for each in objects(func.value, program) if isinstance(each, Foreign)]
    if here and all(_NO_MODEL.fullmatch(name) for name in here):
        return False
    if program.matches(func.value, _MODEL):
        return True
    values = program.of(func)
    if any(isinstance(each, Callable) for each in values) and not any(isinstance(each, Foreign) for each in values):
        return False
    names = program.names(func.value)
    if any(_NO_MODEL.fullmatch(name) for name in names) or not uses_keras(call, program):
        return False
    given = {keyword.arg for keyword in call.keywords}
    unknown = not names or any(name.startswith("?") or "()" in name for name in names)
    in_order = func.attr == "compile" and len(call.args) > 1  # an optimizer, and a loss
    return unknown and (bool(given & _TELLING[func.attr]) or not _TELLING[func.attr] or in_order)


def _replaced(func: ast.Attribute, program: Program) -> bool:
    """Whether a class of the program has a method of its own instead, and leaves nothing of it to Keras."""
    own = own_method(func.value, func.attr, program)
    called = (node.func for each in own for node in nodes_in(each, ast.Call))
    return bool(own) and not any(isinstance(each, ast.Attribute) and each.attr == func.attr for each in called)


def uses_keras(node: ast.AST, program: Program) -> bool:
    """Whether the file of a node imports Keras or TensorFlow."""
    return _imports_keras(program.unit(node))


@remembered
def _imports_keras(unit: Unit) -> bool:
    for statement in walk(unit.tree):
        if isinstance(statement, ast.ImportFrom) and not statement.level:
            modules = [statement.module or ""]
        elif isinstance(statement, ast.Import):
            modules = [alias.name for alias in statement.names]
        else:
            continue
        if any(each.partition(".")[0] in ("tensorflow", "keras", "tf_keras") for each in modules):
            return True
    return False


class Given:
    """The arguments of one call of a model's method."""

    def __init__(self, call: ast.Call, program: Program) -> None:
        assert isinstance(call.func, ast.Attribute)
        self.call = call
        self.program = program
        self.method = call.func.attr
        self.model = call.func.value

    @cached_property
    def _arguments(self) -> dict[str, list[ast.expr]]:
        found: dict[str, list[ast.expr]] = {}
        for name, argument in zip(SIGNATURES[self.method], self.call.args, strict=False):
            if isinstance(argument, ast.Starred):
                break
            found[name] = [argument]
        for keyword in self.call.keywords:
            if keyword.arg is not None:
                found[{"nb_epoch": "epochs"}.get(keyword.arg, keyword.arg)] = [keyword.value]
        for keyword in self.call.keywords:
            if keyword.arg is None:
                for name, values in self._spread(keyword.value).items():
                    found.setdefault(name, []).extend(values)
        return found

    def _spread(self, node: ast.expr) -> dict[str, list[ast.expr]]:
        """What `**node` gives, where it is written down: a dict, or what callers give to a `**kwargs` parameter."""
        found: dict[str, list[ast.expr]] = {}
        for value in self.program.of(node):
            if not isinstance(value, Box):
                continue
            if isinstance(value.node, ast.Dict):
                for key, item in zip(value.node.keys, value.node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        found.setdefault(key.value, []).append(item)
            elif isinstance(value.node, ast.Call):
                for keyword in value.node.keywords:
                    if keyword.arg is not None:
                        found.setdefault(keyword.arg, []).append(keyword.value)
            elif isinstance(value.node, ast.arg):
                self._by_callers(value.node, found)
        return found

    def _by_callers(self, parameter: ast.arg, found: dict[str, list[ast.expr]]) -> None:
        function = next(a for a in self.program.ancestors(parameter) if isinstance(a, ast.FunctionDef | ast.Lambda))
        own = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
        for call in self.program.calling(function):
            for keyword in call.keywords:
                if keyword.arg is not None and keyword.arg not in own:
                    found.setdefault(keyword.arg, []).append(keyword.value)

    def all(self, name: str) -> list[ast.expr]:
        """The expressions that can be given for a parameter: more than one only where `**` gives it."""
        return self._arguments.get(name, [])

    def one(self, *names: str) -> ast.expr | None:
        """The expression that is given for a parameter under any of these names; one that is None counts as not given."""
        for name in names:
            for node in self._arguments.get(name, ())[:1]:
                if not is_literal(node, None):
                    return node
        return None

    def text(self, name: str) -> ast.expr | None:
        """Whether a parameter is given at all, None included."""
        return next(iter(self._arguments.get(name, ())), None)

    @property
    def on_super(self) -> bool:
        """Whether the method is that of a base class, called in an override."""
        return isinstance(self.model, ast.Call) and self.program.names(self.model.func) == {"builtins.super"}


def objects(node: ast.expr, program: Program) -> Values:
    """What an expression stands for at its place: of a name that is assigned again, by the assignments that reach it."""
    return values_at(node, program) or program.of(node)


def own_method(node: ast.expr, name: str, program: Program) -> list[ast.FunctionDef]:
    """The methods of this name that classes of the program define for what an expression can be."""
    found = []
    for value in objects(node, program):
        if isinstance(value, Instance):
            found += [
                each.node
                for each in program.member(value, name)
                if isinstance(each, Callable) and isinstance(each.node, ast.FunctionDef)
            ]
    return found


def literal(node: ast.expr | None, program: Program) -> set[object]:
    """The literals an expression can stand for."""
    return {each.value for each in program.of(node) if isinstance(each, Constant)}
