"""What the programs of `source/models` ask of the interpreter: notes on functions, and what a user may start.

Libraries of command lines keep with a function what was declared for it, and run one of several functions, of which the
command line says which.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.expressions import evaluate
from distml.interp.imports import known_module, resolved
from distml.ops.call import FALSE, NONE, TRUE
from distml.ops.python.comparing import NO_DEFAULT
from distml.ops.python.functional import NOTES
from distml.ops.registry import LIBRARIES
from distml.values import Const, DictRecord, Function, InstanceRecord, Lib, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine

REST = "_takes_rest"
"""The attribute of a parameter that says whether it is `*args` or `**kwargs`."""
SIGNATURE, PARAMETER = Lib("inspect.Signature"), Lib("inspect.Parameter")
PARTS = "_annotated"
"""The attribute of a parameter that holds the parts of its annotation if that is `Annotated[...]`."""
_ANNOTATED = frozenset({"typing.Annotated", "typing_extensions.Annotated"})


def _note(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`note(function, value)`: keep a value with a function. What wraps the function has its notes too."""
    function, value = arguments.args
    known = vm.get((NOTES, function))
    vm.put((NOTES, function), Tup((*(known.items if isinstance(known, Tup) else ()), value)))
    return NONE


def _noted(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`noted(function)`: what was kept with a function, in order."""
    known = vm.get((NOTES, arguments.args[0]))
    return known if isinstance(known, Tup) else Tup(())


def _chosen(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`chosen(start, code)`: whoever starts the program may choose that it runs `start`, which leads to `code`."""
    if not vm.import_depth:
        vm.entries.setdefault(arguments.args[-1], arguments.args[0])
    return NONE


def signature(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`inspect.signature(f)`: https://docs.python.org/3/library/inspect.html#inspect.signature"""
    function = arguments.args[0] if arguments.args else NONE
    if not isinstance(function, Function) or function.owner is not None or isinstance(function.node, ast.Lambda):
        return vm.opaque(vm.snippet(node), vm.origin(node))
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults: list[Value | None] = [None] * (len(positional) - len(function.defaults)) + list(function.defaults)
    pairs = [*zip(positional, defaults, strict=True), *zip(spec.kwonlyargs, function.kw_defaults, strict=False)]
    if len(pairs) != len(positional) + len(spec.kwonlyargs):
        return vm.opaque(vm.snippet(node), vm.origin(node))
    pairs[len(positional) : len(positional)] = [] if spec.vararg is None else [(spec.vararg, None)]
    pairs += [] if spec.kwarg is None else [(spec.kwarg, None)]
    items: dict[Value, Value] = {}
    for argument, default in pairs:
        annotation, annotated = _annotation(vm, function, argument.annotation)
        told = NO_DEFAULT if default is None else default
        attrs = {"name": Const(argument.arg), "default": told, "annotation": annotation, PARTS: annotated}
        attrs[REST] = TRUE if argument in (spec.vararg, spec.kwarg) else FALSE
        items[Const(argument.arg)] = vm.allocate(InstanceRecord(PARAMETER, attrs, exact=False))
    return vm.allocate(InstanceRecord(SIGNATURE, {"parameters": vm.allocate(DictRecord(items))}, exact=False))


def _annotation(vm: Machine, function: Function, node: ast.expr | None) -> tuple[Value, Tup]:
    """An annotation as a value, and what it consists of if it is `Annotated[...]`."""
    if node is None:
        return NO_DEFAULT, Tup(())
    saved, vm.frame = vm.frame, vm.frame_of(function.frame)
    try:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            base = evaluate(vm, node.value)
            if isinstance(base, Lib) and base.name in _ANNOTATED:
                return vm.opaque("annotation"), Tup(tuple(_kind(vm, part) for part in node.slice.elts))
        return _kind(vm, node), Tup(())
    finally:
        vm.frame = saved


def _kind(vm: Machine, node: ast.expr) -> Value:
    """What an annotation stands for; `X[Y]` and `X | Y` are no classes."""
    if isinstance(node, ast.Subscript | ast.BinOp):
        return vm.allocate(InstanceRecord(Lib("types.GenericAlias"), {}, exact=False))
    return vm.opaque("annotation") if isinstance(node, ast.Constant) else evaluate(vm, node)


def _located(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`located(path)`: what a dotted path names, in a module of the program or a library."""
    path = arguments.args[0]
    parts = path.value.split(".") if isinstance(path, Const) and isinstance(path.value, str) else []
    if not vm.checked or not all(part.isidentifier() for part in parts):
        return vm.opaque("located")
    for length in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:length])
        source = vm.checked if module in ("__main__", vm.checked.module) else None
        source = source or (None if parts[0] in LIBRARIES else resolved(vm, vm.checked, module))
        if source is not None or length == 1:
            found: Value = Lib(parts[0]) if source is None else known_module(vm, source)
            for name in parts[length:]:
                found = vm.language.get_attribute(vm, found, name, node)
            return found
    return vm.opaque("located")


ENTRIES: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    "_elsewhere.note": _note,
    "_elsewhere.noted": _noted,
    "_elsewhere.chosen": _chosen,
    "_elsewhere.located": _located,
    "inspect.signature": signature,
}
