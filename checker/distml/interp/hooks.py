"""Hooks of modules: functions that are called before or after `forward`, and may replace what goes in or comes out.

A hook runs until it is removed by its handle. Where some code may have done that unseen, each call goes both ways.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.callbacks import callbacks_ran, run_later
from distml.interp.calls import REMOVED, branch_values, call_op, call_value, each_alternative
from distml.interp.several import are_several
from distml.values import (
    NONE,
    Bound,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    Lib,
    Ref,
    Tup,
    Union,
    Value,
    alternatives,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine

HOOKS = "__hooks__"
BEFORE, AFTER = Const("before"), Const("after")
HANDLE = "torch.utils.hooks.RemovableHandle"
EVERYWHERE = ("hooks", 0)
"""The fact that hooks of all modules were registered."""
_MODULE = "module"


def _register(op: str, when: Const) -> Callable[[Machine, Arguments, ast.AST], Value]:
    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        values = arguments.values()
        record = vm.record(values[0]) if len(values) > 1 and isinstance(values[0], Ref) else None
        if isinstance(record, InstanceRecord) and isinstance(values[0], Ref):
            handle = vm.allocate(InstanceRecord(Lib(HANDLE), {_MODULE: values[0]}, exact=False))
            hook = Tup((when, values[1], arguments.kwargs.get("with_kwargs", Const(False)), handle))
            lists = hooks_of(record)
            made = vm.opaque("hooks") if lists is None else union([*(Tup((*each, hook)) for each in lists)])
            vm.replace(values[0], record.having({HOOKS: made}))
            return handle
        return call_op(vm, op, arguments, node, "torch")

    return run


def _remove(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`handle.remove()`"""
    handle = arguments.args[0] if arguments.args else NONE
    held = vm.record(handle) if isinstance(handle, Ref) else None
    module = held.attrs.get(_MODULE, NONE) if isinstance(held, InstanceRecord) else NONE
    record = vm.record(module) if isinstance(module, Ref) else None
    if are_several(vm, handle) or not isinstance(module, Ref):
        vm.put(REMOVED, True)
    elif isinstance(record, InstanceRecord) and (lists := hooks_of(record)) is not None:
        left = (Tup(tuple(each for each in hooks if each.items[3] != handle)) for hooks in lists)
        vm.replace(module, record.having({HOOKS: union([*left])}))
    return NONE


def hooks_of(record: InstanceRecord) -> list[tuple[Tup, ...]] | None:
    """The hooks that a module has on each path, in their order; None where they are not known."""
    if HOOKS not in record.attrs:
        return [()]
    options = alternatives(record.attrs[HOOKS])
    lists = [tuple(h for h in each.items if isinstance(h, Tup)) for each in options if isinstance(each, Tup)]
    if len(lists) < len(options):
        return None
    return [*dict.fromkeys([*lists, ()] if HOOKS in record.sometimes else lists)]


def _is_there(vm: Machine, ref: Ref, hook: Tup) -> bool:
    """Whether nobody can have removed a hook unseen."""
    record = vm.record(hook.items[3]) if isinstance(hook.items[3], Ref) else None
    told = isinstance(record, InstanceRecord) and record.attrs.get(_MODULE) == ref
    return told and not vm.symbolic and not vm.get(REMOVED) and not are_several(vm, ref)


def _everywhere(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    vm.put(EVERYWHERE, True)
    return vm.opaque(vm.snippet(node))


def _stored(op: str) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """What keeps or runs functions for the gradients."""

    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        for value in arguments.values():
            if isinstance(value, Function | Bound):
                run_later(vm, value)
        callbacks_ran(vm)
        return call_op(vm, op, arguments, node, "torch")

    return run


_GRADIENTS = (
    "torch.Tensor.backward",
    "torch.Tensor.register_hook",
    "torch.Tensor.register_post_accumulate_grad_hook",
    "torch.nn.Module.register_backward_hook",
    "torch.nn.Module.register_full_backward_hook",
    "torch.nn.Module.register_full_backward_pre_hook",
)
REGISTERING = {
    **{name: _stored(name) for name in _GRADIENTS},
    "torch.nn.Module.register_forward_pre_hook": _register("torch.nn.Module.register_forward_pre_hook", BEFORE),
    "torch.nn.Module.register_forward_hook": _register("torch.nn.Module.register_forward_hook", AFTER),
    f"{HANDLE}.remove": _remove,
    f"{HANDLE}.__exit__": _remove,
    "torch.nn.register_module_forward_hook": _everywhere,
    "torch.nn.register_module_forward_pre_hook": _everywhere,
}
"""What registers hooks."""


def call_hooked(
    vm: Machine, ref: Ref, lists: list[tuple[Tup, ...]], arguments: Arguments, run: Callable[[Arguments], Value]
) -> Value:
    """Call a module that has one of these lists of hooks."""
    if len(lists) == 1:
        return _call_with(vm, ref, lists[0], arguments, run)
    return branch_values(vm, [partial(_call_with, vm, ref, hooks, arguments, run) for hooks in lists])


def _call_with(
    vm: Machine, ref: Ref, hooks: tuple[Tup, ...], arguments: Arguments, run: Callable[[Arguments], Value]
) -> Value:
    given: Value = Tup(tuple(arguments.args))
    keywords = vm.allocate(DictRecord({Const(k): v for k, v in arguments.kwargs.items()}, not arguments.open))
    for hook in hooks:
        if hook.items[0] == BEFORE:
            given = _passed(vm, ref, hook, [given], keywords, given)

    def forward(value: Value) -> Value:
        if isinstance(value, Tup):
            return run(Arguments(list(value.items), arguments.kwargs, arguments.open))
        return run(Arguments([], arguments.kwargs, True))

    output = each_alternative(vm, (given,), forward)
    for hook in hooks:
        if hook.items[0] == AFTER:
            output = _passed(vm, ref, hook, [given], keywords, output)
    return output


def _passed(vm: Machine, module: Ref, hook: Tup, args: list[Value], keywords: Ref, value: Value) -> Value:
    """What a hook makes of what it is given; or that itself, where the hook may be gone."""
    before, function, with_keywords, _ = hook.items
    args = [module, *args, keywords] if with_keywords != Const(False) else [module, *args]
    args = args if before == BEFORE else [*args, value]

    def replaced() -> Value:
        result = call_value(vm, function, Arguments(args))
        return union([value if each == NONE else _arguments(hook, each) for each in alternatives(result)])

    return replaced() if _is_there(vm, module, hook) else branch_values(vm, [lambda: value, replaced])


def _arguments(hook: Tup, result: Value) -> Value:
    if hook.items[0] == AFTER or isinstance(result, Union):
        return result
    if hook.items[2] != Const(False):
        return result.items[0] if isinstance(result, Tup) and result.items else result
    return result if isinstance(result, Tup) else Tup((result,))
