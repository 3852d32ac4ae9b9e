"""Imports: modules of the project are run once, libraries are names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.machine import Frame, ModuleInfo
from distml.interp.names import assign_name
from distml.interp.scope import mutated_globals, scope_of
from distml.interp.state import State
from distml.ops.registry import LIBRARIES
from distml.source.reading import UnreadableError
from distml.values import Lib, Module, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine
    from distml.source.file import SourceFile

MAX_MODULES = 60
"""How many project modules are followed for one checked file."""
MAX_IMPORT_DEPTH = 12


def execute_import(vm: Machine, node: ast.Import) -> None:
    """`import a.b as c`."""
    for alias in node.names:
        if alias.asname is not None:
            assign_name(vm, alias.asname, _module(vm, alias.name))
        else:
            top = alias.name.partition(".")[0]
            _module(vm, alias.name)
            assign_name(vm, top, _module(vm, top))


def execute_import_from(vm: Machine, node: ast.ImportFrom) -> None:
    """`from a import b`."""
    importer = vm.frame.module.source
    for alias in node.names:
        if alias.name == "*":
            _star(vm, node)
            continue
        value = _imported(vm, importer, node, alias.name)
        assign_name(vm, alias.asname or alias.name, value)


def _module(vm: Machine, name: str) -> Value:
    if name.partition(".")[0] in LIBRARIES:
        return Lib(name)
    source = vm.project.resolve(vm.frame.module.source, name)
    if source is None:
        return Lib(name)
    info = load(vm, source, name)
    return Lib(name) if info is None else Module(info.name)


def _imported(vm: Machine, importer: SourceFile, node: ast.ImportFrom, name: str) -> Value:
    module = node.module or ""
    if not node.level and module.partition(".")[0] in LIBRARIES:
        return _library(vm, module, name)
    source = vm.project.resolve(importer, module, node.level)
    if source is None:
        return _library(vm, module, name) if module else vm.opaque(name)
    info = load(vm, source, module)
    if info is not None:
        found = _attribute(vm, info, name)
        if found is not None:
            return found
    inner = vm.project.submodule(source, name)
    if inner is not None:
        loaded = load(vm, inner, name)
        if loaded is not None:
            return Module(loaded.name)
    return vm.opaque(name, vm.origin(node))


def _library(vm: Machine, module: str, name: str) -> Value:
    from distml.interp.attributes import get_attribute

    if module == "__future__":
        return Lib(f"{module}.{name}")
    return get_attribute(vm, Lib(module), name, vm.node)


def _star(vm: Machine, node: ast.ImportFrom) -> None:
    importer = vm.frame.module.source
    source = vm.project.resolve(importer, node.module or "", node.level)
    info = None if source is None else load(vm, source, node.module or "")
    if info is None:
        return
    for name in sorted(info.frame.scope.locals):
        if not name.startswith("_"):
            value = _attribute(vm, info, name)
            if value is not None:
                # The names are not in the importing scope's own text.
                vm.frame.scope.locals.add(name)
                assign_name(vm, name, value)


def load(vm: Machine, source: SourceFile, name: str) -> ModuleInfo | None:
    """Run a module of the project once; None when it cannot be followed."""
    known = vm.modules.get(source.location)
    if known is not None:
        return known
    if len(vm.modules) >= MAX_MODULES or vm.import_depth >= MAX_IMPORT_DEPTH:
        vm.lose(f"too many modules to follow {name}")
        return None
    try:
        tree = source.tree
    except UnreadableError:
        return None
    info = make_module(vm, source, tree)
    _run(vm, info, tree)
    return info


def make_module(vm: Machine, source: SourceFile, tree: ast.Module) -> ModuleInfo:
    """The module of a source file, not yet run."""
    frame = Frame(vm.serial(), "<module>", scope_of(tree), None, None)
    frame.captured = True
    info = ModuleInfo(source.location, source, frame)
    frame.module = info
    info.mutated = mutated_globals(tree)
    vm.frames[frame.ident] = frame
    vm.modules[source.location] = info
    return info


def _run(vm: Machine, info: ModuleInfo, tree: ast.Module) -> None:
    """Run an imported module in a state of its own, and keep what it leaves."""
    from distml.interp.statements import execute_block

    saved = (vm.frame, vm.state, vm.stack, vm.loops, vm.handlers, vm.reads)
    vm.frame, vm.state, vm.stack = info.frame, State(vm.base), [info.frame]
    vm.loops, vm.handlers, vm.reads = [], [], None
    vm.import_depth += 1
    try:
        vm.follow(lambda: execute_block(vm, tree.body))
        vm.base.update(vm.state.store)
        info.finished = True
    finally:
        vm.import_depth -= 1
        vm.frame, vm.state, vm.stack, vm.loops, vm.handlers, vm.reads = saved


def _attribute(vm: Machine, info: ModuleInfo, name: str) -> Value | None:
    if name not in info.frame.scope.locals:
        return None
    found = vm.variable(info.frame.ident, name)
    if found is not None and vm.symbolic and name in info.mutated:
        return vm.opaque(name)
    return found


def module_attribute(vm: Machine, module: Module, name: str) -> Value:
    """`module.name` for a module of the project."""
    info = vm.modules.get(module.name)
    if info is None:
        return vm.opaque(name)
    found = _attribute(vm, info, name)
    if found is not None:
        return found
    inner = vm.project.submodule(info.source, name)
    if inner is not None:
        loaded = load(vm, inner, name)
        if loaded is not None:
            return Module(loaded.name)
    return vm.opaque(name)


def set_module_attribute(vm: Machine, module: Module, name: str, value: Value) -> None:
    """`module.name = value`."""
    info = vm.modules.get(module.name)
    if info is not None:
        vm.assign(info.frame.ident, name, value)
