"""Training mode: `module.training`, which `train` and `eval` set for a module and all that it is made of.

It is an attribute like any other, true from the constructor on. Any code that is not followed may set it.
https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.interp.storage import MODE
from distml.interp.submodules import children_of, known_children
from distml.values import NONE, Const, InstanceRecord, Prim, Ref, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from distml.interp.machine import Machine

EITHER = Prim("bool")


def set_mode(vm: Machine, module: Value, mode: Value, node: ast.AST) -> None:
    """`module.train(mode)`; parts of which not all are known may be any of those that are."""
    record = vm.record(module) if isinstance(module, Ref) else None
    if not isinstance(module, Ref) or not isinstance(record, InstanceRecord):
        return
    if MODE in record.attrs:
        vm.replace(module, record.having({MODE: mode}))
    parts = children_of(vm, module)
    for _, part in known_children(vm, module) if parts is None else parts:
        _tell(vm, part, EITHER if parts is None else mode, node)


def _tell(vm: Machine, part: Value, mode: Value, node: ast.AST) -> None:
    """A part is told by its own `train`, which its class may define."""
    method = vm.language.find_attribute_of(vm, part, "train")
    if method is not None:
        call_value(vm, method, Arguments([mode]), node)


@contextmanager
def evaluating(vm: Machine, module: Value, node: ast.AST) -> Iterator[None]:
    """Everything in the block finds the module in evaluation; behind it each of its parts is in the mode that it was in."""
    before: dict[Ref, Value] = {}
    left = [module]
    while left:
        part = left.pop()
        record = vm.record(part) if isinstance(part, Ref) else None
        if isinstance(part, Ref) and isinstance(record, InstanceRecord) and part not in before:
            before[part] = record.attrs.get(MODE, EITHER)
            parts = children_of(vm, part)
            left += [each for _, each in (known_children(vm, part) if parts is None else parts)]
    _tell(vm, module, Const(False), node)
    yield
    for part, mode in before.items():
        record = vm.record(part)
        if isinstance(record, InstanceRecord) and MODE in record.attrs:
            vm.replace(part, record.having({MODE: mode}))


def _train(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    module, mode = (*arguments.args, NONE, NONE)[:2]
    given = arguments.kwargs.get("mode", mode if len(arguments.args) > 1 else Const(True))
    known = isinstance(given, Const) and isinstance(given.value, bool) and not arguments.open
    set_mode(vm, module, given if known else EITHER, node)
    return module


def _eval(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`module.eval()` is `module.train(False)`, also where the class defines `train`."""
    module = arguments.args[0] if arguments.args else NONE
    _tell(vm, module, Const(False), node)
    return module


MODES = {"torch.nn.Module.train": _train, "torch.nn.Module.eval": _eval}
