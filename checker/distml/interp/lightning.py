"""Lightning: hyperparameters that a constructor saves, and a trainer that gives a model batches of its data.

https://lightning.ai/docs/pytorch/stable/common/hyperparameters.html
"""

from __future__ import annotations

import ast
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value, unknown_call
from distml.interp.imports import known_module, module_attribute
from distml.interp.modes import evaluating
from distml.interp.storage import view_of
from distml.ops.call import NONE
from distml.ops.python.arguments import NAMESPACE
from distml.ops.python.lightning import DATA, HOLDERS, LIMITED, UNTRIED
from distml.values import (
    Bound,
    Class,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    Lib,
    ListRecord,
    Ref,
    Tup,
    Value,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.interp.machine import Machine

_PHASES = {"training_step": "train", "validation_step": "validation", "test_step": "test", "predict_step": "predict"}
"""Each step, and what the hooks around it are named after."""
_EDGES = ("start", "epoch_start", "batch_start", "batch_end", "epoch_end", "end")
_HOOKS = frozenset({f"on_{p}_{e}" for p in _PHASES.values() for e in _EDGES} | {"on_fit_start", "on_fit_end"})
"""https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#hooks: those that are run where the trainer runs them."""
_UNSEEN = ("on_", "configure_model", "transfer_batch", "optimizer_", "backward", "manual_backward")
"""How other methods begin by which a class takes part in what the trainer does before and around a step."""


def _save(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`self.save_hyperparameters(*names, ignore)`: the arguments of the constructor, or a dict, as attributes and items of
    `hparams`, beside what was saved before.
    """
    receiver = arguments.args[0]
    record = vm.record(receiver) if isinstance(receiver, Ref) else None
    before = record.attrs.get("hparams") if isinstance(record, InstanceRecord) else None
    saved = None if arguments.open else _saved(vm, receiver, arguments)
    source = vm.project.model("munch")
    made: Value | None = saved if isinstance(saved, Ref) else None
    if isinstance(saved, dict) and source is not None:
        held = vm.allocate(DictRecord({Const(name): value for name, value in saved.items()}))
        made = before if isinstance(before, Ref) else None
        if made is not None:
            call_value(vm, vm.attribute(made, "update") or NONE, Arguments([held]), node)
        elif before is None:
            made = call_value(vm, module_attribute(vm, known_module(vm, source), "Munch"), Arguments([held]), node)
    vm.language.set_attribute(vm, receiver, "hparams", made or vm.opaque("hparams", vm.origin(node)), node, plain=True)
    return NONE


def _saved(vm: Machine, receiver: Value, arguments: Arguments) -> dict[str, Value] | Ref | None:
    """What is saved, by name, or an object that is kept as it is; None where that is not known."""
    left_out = _names(vm, arguments.kwargs.get("ignore", Tup(())))
    given = arguments.args[1:]
    objects = [each for each in given if _names(vm, each) is None or isinstance(each, Ref)]
    if left_out is None or set(arguments.kwargs) - {"ignore", "logger"} or len(objects) > 1:
        return None
    found = _items_of(vm, objects[0]) if objects else _of_constructors(vm, receiver)
    if not isinstance(found, dict):
        return found
    wanted = [] if objects else _names(vm, Tup(tuple(given)))
    return {name: value for name, value in found.items() if name not in left_out and (not wanted or name in wanted)}


def _items_of(vm: Machine, value: Value) -> dict[str, Value] | Ref | None:
    """The items of a dict, or the attributes of a namespace; another object is kept."""
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(value, Ref) and isinstance(record, InstanceRecord):
        if record.cls != NAMESPACE:
            return value
        record = vm.record(view_of(vm, value, record, "__dict__"))
    if not isinstance(record, DictRecord) or not record.exact:
        return None
    named = {key.value: item for key, item in record.items.items() if isinstance(key, Const)}
    return {str(name): item for name, item in named.items()} if len(named) == len(record.items) else None


def _of_constructors(vm: Machine, receiver: Value) -> dict[str, Value] | None:
    """The arguments of the constructors that are being run on an object, the innermost overridden by those around it."""
    found: dict[str, Value] = {}
    own = [each for each in reversed(vm.stack) if each.receiver == receiver and each.name == "__init__"]
    for frame in own:
        if frame.function is None:
            return None
        spec = frame.function.node.args
        names = [each.arg for each in (*spec.posonlyargs, *spec.args)][1:] + [each.arg for each in spec.kwonlyargs]
        found |= {name: vm.variable(frame.ident, name) or vm.opaque(name) for name in names}
        more = NONE if spec.kwarg is None else vm.variable(frame.ident, spec.kwarg.arg) or NONE
        further = {} if spec.kwarg is None else _items_of(vm, more)
        if not isinstance(further, dict):
            return None
        found |= further
    return found if own else None


def _names(vm: Machine, value: Value) -> list[str] | None:
    """The strings that a string or a sequence of strings is."""
    record = vm.record(value) if isinstance(value, Ref) else None
    items = value.items if isinstance(value, Tup) else record.items if isinstance(record, ListRecord) else (value,)
    texts = [each.value if isinstance(each, Const) else None for each in items or ()]
    known = [text for text in texts if isinstance(text, str)]
    return known if items is not None and len(known) == len(texts) else None


class Run(NamedTuple):
    """A method of the trainer: the parameters that it takes, the stage that it sets data up for, and what it then runs: for
    each of its parameters that may give data the hook that gives them else, and the step."""

    parameters: tuple[str, ...]
    stage: str
    steps: tuple[tuple[str, str, str], ...]


_OVER = ("model", "dataloaders")
RUNS = {
    "fit": Run(
        ("model", "train_dataloaders", "val_dataloaders", "datamodule"),
        "fit",
        (
            ("val_dataloaders", "val_dataloader", "validation_step"),
            ("train_dataloaders", "train_dataloader", "training_step"),
        ),
    ),
    "validate": Run(_OVER, "validate", (("dataloaders", "val_dataloader", "validation_step"),)),
    "test": Run(_OVER, "test", (("dataloaders", "test_dataloader", "test_step"),)),
    "predict": Run((*_OVER, "datamodule"), "predict", (("dataloaders", "predict_dataloader", "predict_step"),)),
}
"""https://lightning.ai/docs/pytorch/stable/common/trainer.html#methods; before it trains, `fit` tries a validation."""


def _running(run: Run) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """A method of the trainer, such as `trainer.fit(model, loader)`: its steps with a batch of the data each."""

    def method(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        given = dict(zip(("self", *run.parameters), arguments.args, strict=False)) | arguments.kwargs
        told = next((each for each in map(given.get, run.parameters[1:]) if each and _holds_data(vm, each)), NONE)
        given |= {name: NONE for name, each in given.items() if each == told}
        model, data = given.get("model", NONE), told
        known = not arguments.open and _is_plain(vm, model) and (data == NONE or _is_plain(vm, data))
        for part in (data, model) if known else ():
            for name, args in (("prepare_data", []), ("setup", [Const(run.stage)])):
                _hook(vm, part, name, args, node)
        if known and not _is_limited(vm, given.get("self", NONE)):
            _hook(vm, model, f"on_{run.stage}_start", [], node)
            for parameter, hook, name in _in_order(vm, run, given["self"]):
                loader = given.get(parameter, NONE)
                if loader == NONE:
                    loader = _hook(vm, model if data == NONE else data, hook, [], node)
                with nullcontext() if name == "training_step" else evaluating(vm, model, node):
                    _phase(vm, model, name, loader, node)
            _hook(vm, model, f"on_{run.stage}_end", [], node)
        # What it does to loaders is done to loaders of its own.
        return unknown_call(vm, Arguments([model, data]) if known else arguments, node)

    return method


def _holds_data(vm: Machine, value: Value) -> bool:
    """Whether a value is a data module, which may be given in the place of the loaders too."""
    return any(isinstance(base, Lib) and base.name in DATA for base in _classes_of(vm, value))


def _classes_of(vm: Machine, value: Value) -> tuple[Value | None, ...]:
    """What the class of an object of the program derives from, itself first; nothing for other values."""
    record = vm.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return ()
    return tuple(vm.at(record.cls.address).mro)


def _is_limited(vm: Machine, trainer: Value) -> bool:
    """Whether a trainer may leave steps out, or give them other batches."""
    record = vm.record(trainer) if isinstance(trainer, Ref) else None
    return not isinstance(record, InstanceRecord) or LIMITED in record.attrs


def _in_order(vm: Machine, run: Run, trainer: Value) -> Sequence[tuple[str, str, str]]:
    """The steps in the order in which they first come: a trainer that is told how many validations it tries may try none."""
    record = vm.record(trainer) if isinstance(trainer, Ref) else None
    late = isinstance(record, InstanceRecord) and UNTRIED in record.attrs
    return run.steps[::-1] if late else run.steps


def _phase(vm: Machine, model: Value, name: str, loader: Value, node: ast.AST) -> None:
    """The batches of a loader through a step of a model, with the hooks around them."""
    step, phase = vm.attribute(model, name), _PHASES[name]
    one = isinstance(loader, Ref) and isinstance(vm.record(loader), InstanceRecord)
    if not one or not isinstance(step, Bound) or not isinstance(step.function, Function):
        return
    spec, items = step.function.node.args, vm.iterate(loader)
    numbered = len(spec.posonlyargs) + len(spec.args) > 2 or spec.vararg is not None
    for edge in ("start", "epoch_start"):
        _hook(vm, model, f"on_{phase}_{edge}", [], node)

    def run(batch: Value, number: Value) -> None:
        if _hook(vm, model, f"on_{phase}_batch_start", [batch, number], node) == NONE:
            given = [batch, number][: 1 + numbered]
            outputs = call_value(vm, step, Arguments([*given]), node)
            _hook(vm, model, f"on_{phase}_batch_end", [outputs, batch, number], node)

    if not isinstance(items, tuple):
        rest: Value | None = items.item
    else:
        rest = union(items[1:]) if items[1:] else None
        for first in items[:1]:
            run(first, Const(0))
    if rest is not None:
        vm.language.any_times(vm, lambda: run(rest, vm.opaque("batch_idx")))
    for edge in ("epoch_end", "end"):
        _hook(vm, model, f"on_{phase}_{edge}", [], node)


def _hook(vm: Machine, owner: Value, name: str, args: Sequence[Value], node: ast.AST) -> Value:
    method = vm.attribute(owner, name) if isinstance(owner, Ref) else None
    return call_value(vm, method, Arguments([*args]), node) if isinstance(method, Bound) else NONE


def _is_plain(vm: Machine, value: Value) -> bool:
    """Whether an object is of a class that takes part in nothing but its steps and its data."""
    order = _classes_of(vm, value)
    names = [name for base in order if isinstance(base, Class) for name in vm.at(base.address).attrs]
    known = all(isinstance(base, Class) or (isinstance(base, Lib) and base.name in HOLDERS) for base in order)
    return bool(order) and known and not any(name.startswith(_UNSEEN) and name not in _HOOKS for name in names)


LIGHTNING: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    **dict.fromkeys((f"{holder}.save_hyperparameters" for holder in HOLDERS), _save),
    **{f"lightning.Trainer.{name}": _running(run) for name, run in RUNS.items()},
}
