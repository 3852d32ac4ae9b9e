"""Training mode: `module.training`, which `train` and `eval` set for a module and all that it is made of.

It is an attribute like any other, true from the constructor on. Any code that is not followed may set it.
https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.interp.storage import MODE
from distml.interp.submodules import children_of, known_children
from distml.values import NONE, Const, InstanceRecord, Prim, Ref, Value

if TYPE_CHECKING:
    import ast

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
