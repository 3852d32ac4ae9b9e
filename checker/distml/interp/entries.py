"""What the programs of `source/models` ask of the interpreter: notes on functions, and what a user may start.

Libraries of command lines keep with a function what was declared for it, and run one of several functions, of which the
command line says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.interp.imports import known_module, resolved
from distml.ops.call import NONE
from distml.ops.python.functional import NOTES
from distml.ops.registry import LIBRARIES
from distml.values import Const, Lib, Tup, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from distml.interp.machine import Machine


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


def _written(module: str, name: str) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """A class of a library with rules that a program stands for."""

    def run(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        source = vm.project.model(module)
        if source is None:
            return vm.opaque(name)
        return call_value(vm, vm.language.get_attribute(vm, known_module(vm, source), name, node), arguments, node)

    return run


ENTRIES: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    "_elsewhere.note": _note,
    "_elsewhere.noted": _noted,
    "_elsewhere.chosen": _chosen,
    "_elsewhere.located": _located,
    "functools.singledispatch": _written("_dispatch", "singledispatch"),
    "functools.singledispatchmethod": _written("_dispatch", "singledispatchmethod"),
}
