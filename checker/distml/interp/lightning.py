"""Lightning: hyperparameters that a constructor saves, and a trainer that gives a model batches of its data.

https://lightning.ai/docs/pytorch/stable/common/hyperparameters.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value, unknown_call
from distml.interp.imports import known_module, module_attribute
from distml.ops.call import NONE
from distml.ops.python.lightning import HOLDERS, LIMITED, UNTRIED
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
    """`self.save_hyperparameters(*names, ignore)`: the arguments of the constructor, as attributes and items of `hparams`."""
    receiver = arguments.args[0]
    values = _collected(vm, receiver, arguments)
    source = vm.project.model("easydict")
    made: Value = vm.opaque("hparams", vm.origin(node))
    if values is not None and source is not None:
        items: dict[Value, Value] = {Const(name): value for name, value in values.items()}
        kind = module_attribute(vm, known_module(vm, source), "EasyDict")
        made = call_value(vm, kind, Arguments([vm.allocate(DictRecord(items))]), node)
    vm.language.set_attribute(vm, receiver, "hparams", made, node, plain=True)
    return NONE


def _collected(vm: Machine, receiver: Value, arguments: Arguments) -> dict[str, Value] | None:
    """What is saved, by name; None where that is not known."""
    frame, record = vm.frame, vm.record(receiver) if isinstance(receiver, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class) or frame.receiver != receiver:
        return None
    own = record.cls.address == frame.owner and frame.name == "__init__" and frame.function is not None
    left_out = _names(vm, arguments.kwargs.get("ignore", Tup(())))
    if (
        not own
        or frame.function is None
        or arguments.open
        or left_out is None
        or set(arguments.kwargs) - {"ignore", "logger"}
    ):
        return None
    spec = frame.function.node.args
    names = [each.arg for each in (*spec.posonlyargs, *spec.args)][1:] + [each.arg for each in spec.kwonlyargs]
    found = {name: vm.variable(frame.ident, name) or vm.opaque(name) for name in names}
    if spec.kwarg is not None:
        more = vm.variable(frame.ident, spec.kwarg.arg)
        held = vm.record(more) if isinstance(more, Ref) else None
        if not isinstance(held, DictRecord) or not held.exact:
            return None
        found.update({str(key.value): value for key, value in held.items.items() if isinstance(key, Const)})
    wanted = _names(vm, Tup(tuple(arguments.args[1:])))
    if wanted is None:
        return None
    return {name: value for name, value in found.items() if name not in left_out and (not wanted or name in wanted)}


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
        model, data = given.get("model", NONE), given.get("datamodule", NONE)
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
                _phase(vm, model, name, loader, node)
            _hook(vm, model, f"on_{run.stage}_end", [], node)
        # What it does to loaders is done to loaders of its own.
        return unknown_call(vm, Arguments([model, data]) if known else arguments, node)

    return method


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
    record = vm.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return False
    order = vm.at(record.cls.address).mro
    names = [name for base in order if isinstance(base, Class) for name in vm.at(base.address).attrs]
    known = all(isinstance(base, Class) or (isinstance(base, Lib) and base.name in HOLDERS) for base in order)
    return known and not any(name.startswith(_UNSEEN) and name not in _HOOKS for name in names)


LIGHTNING: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    **dict.fromkeys((f"{holder}.save_hyperparameters" for holder in HOLDERS), _save),
    **{f"lightning.Trainer.{name}": _running(run) for name, run in RUNS.items()},
}
