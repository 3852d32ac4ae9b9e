"""Imports: modules of the project are run once, libraries are names."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING

from distml.interp.frames import Frame, ModuleInfo
from distml.interp.machine import Limits, OutOfSteps
from distml.interp.module_facts import entries_of, facts_of
from distml.interp.names import assign_name
from distml.interp.scope import scope_of
from distml.interp.stars import STARS, from_libraries, import_star
from distml.interp.state import State
from distml.interp.unsettled import is_placeholder, unsettle_names
from distml.ops.registry import LIBRARIES
from distml.source.project import EVERY_PART, MODELLED_PARTS, MODELLED_WITHIN, is_model, stands_for
from distml.source.reading import UnreadableError
from distml.values import Function, Imported, Lib, Module, Tup, Union, Value, union

if TYPE_CHECKING:
    from distml.interp.machine import Machine
    from distml.source.file import SourceFile

MAX_MODULE_STEPS = 12_000
"""Statements and rules that running one imported module may take."""
MAX_INSTALLED_STEPS = 1_500
"""How many a module of an installed package may take."""
MAX_REGISTERING_STEPS = 14_000
"""How many, if it fills a registry: nothing that it registers is known before all of it was run."""
REGISTERING = Limits(loop_steps=20_000, entries=1_000, items=1_000)
"""How long it keeps at one thing."""
MAX_IMPORT_DEPTH = 24
"""How deeply modules that need each other while they are run may nest."""


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
    source = resolved(vm, vm.frame.module.source, name)
    return Lib(name) if source is None else known_module(vm, source)


def resolved(vm: Machine, importer: SourceFile, module: str, level: int = 0) -> SourceFile | None:
    """The module of the project, or else the program that stands for a library, or the module of an installed package."""
    found = vm.project.resolve(importer, module, level)
    if found is None and not level:
        found = vm.project.model(module) or vm.project.installed(importer, module)
    if found is not None and found.installed and found.module in MODELLED_WITHIN and not is_model(importer):
        return vm.project.model(found.module) or found
    return found


def known_module(vm: Machine, source: SourceFile) -> Module:
    """A source file as a module."""
    vm.sources[source.location] = source
    return Module(source.location)


def _imported(vm: Machine, importer: SourceFile, node: ast.ImportFrom, name: str) -> Value:
    module = node.module or ""
    if not node.level and module.partition(".")[0] in LIBRARIES:
        return _library(vm, module, name)
    whole = None if node.level else part_of_library(vm, f"{module}.{name}")
    if whole is not None:
        return whole
    source = resolved(vm, importer, module, node.level)
    if source is None:
        return _library(vm, module, name) if module else vm.opaque(name)
    return Imported(known_module(vm, source).name, name)


def part_of_library(vm: Machine, name: str) -> Module | None:
    """The program that stands for a module of a library which has others; a library's own code gets the library's."""
    if name not in MODELLED_PARTS or vm.frame.module.source.installed:
        return None
    source = vm.project.model(name)
    return None if source is None else known_module(vm, source)


def resolve_import(vm: Machine, value: Imported | Union) -> Value:
    """The value of an imported name, or of a variable that may be one."""
    if isinstance(value, Union):
        return union([resolve_import(vm, o) if isinstance(o, Imported) else o for o in value.options])
    return module_attribute(vm, Module(value.location), value.name)


def _library(vm: Machine, module: str, name: str) -> Value:
    if module == "__future__":
        return Lib(f"{module}.{name}")
    return vm.language.get_attribute(vm, Lib(module), name, vm.node)


def _star(vm: Machine, node: ast.ImportFrom) -> None:
    source = resolved(vm, vm.frame.module.source, node.module or "", node.level)
    if source is not None and source.installed:
        known_module(vm, source)
        vm.frame.module.stars.append(source)
        return
    if source is None and not node.level and (node.module or "").partition(".")[0] in LIBRARIES:
        import_star(vm, node.module or "")
        return
    info = None if source is None else load(vm, source)
    if info is None:
        unsettle_names(vm)
        return
    stars = vm.variable(info.frame.ident, STARS)
    for each in stars.items if isinstance(stars, Tup) else ():
        import_star(vm, each.name)  # type: ignore[attr-defined]
    for name in sorted(info.frame.scope.locals):
        if not name.startswith("_"):
            # The names are not in the importing scope's own text.
            vm.frame.scope.locals.add(name)
            assign_name(vm, name, Imported(known_module(vm, info.source).name, name))


def consider(vm: Machine, source: SourceFile) -> None:
    """Take into account what a file replaces in libraries and classes."""
    with suppress(UnreadableError):
        vm.patches = vm.patches | facts_of(source).patches


def load(vm: Machine, source: SourceFile) -> ModuleInfo | None:
    """Run a module of the project once; None when it cannot be followed."""
    if source is vm.checked:
        return vm.main
    known = vm.modules.get(source.location)
    if source.installed and known is None and not vm.import_depth and vm.packages.enough:
        vm.packages.give_up(source)
        vm.lose(f"importing {source.module} and what it needs takes too much work")
        return None
    consider(vm, source)
    if known is not None:
        charge(vm, known)
        vm.exits += known.exits
        return known
    if vm.import_depth >= MAX_IMPORT_DEPTH:
        vm.lose(f"imports nest too deeply to follow {source.path}")
        return None
    try:
        tree = source.tree
    except UnreadableError:
        return None
    info = make_module(vm, source, tree)
    vm.modules[source.location] = info
    vm.packages.ran.add(info.name)
    entries = entries_of(source) if source.installed else {}
    _run(vm, info, [each for each in tree.body if each not in entries.values()], bool(entries))
    info.entries = entries
    charge(vm, info)
    return info


def define(vm: Machine, info: ModuleInfo, name: str) -> None:
    """Run what a module registers under a name, or says of that, which was left until somebody asks for it."""
    node = info.entries.pop(name, None)
    if node is not None:
        cost, exits = info.cost, info.exits
        _run(vm, info, [node])
        info.costs[name], info.cost, info.exits = info.cost, cost, exits
    if name in info.costs:
        vm.packages.charge_entry(info, name)


def charge(vm: Machine, info: ModuleInfo) -> None:
    """Note that a module is needed: by the one that is being run, or by the checked file."""
    if vm.stack and vm.import_depth:
        vm.frame.module.loaded.append(info)
    else:
        vm.packages.charge(info)
        owed = vm.packages.owed(info)
        if not info.source.installed:
            vm.steps, vm.step_limit = vm.steps + owed, vm.step_limit + owed


def make_module(vm: Machine, source: SourceFile, tree: ast.Module) -> ModuleInfo:
    """The module of a source file, not yet run."""
    frame = Frame(vm.serial(), "<module>", scope_of(tree), None, None)
    frame.captured = True
    info = ModuleInfo(source.location, source, frame)
    frame.module = info
    vm.open_frame(frame, shared=source is not vm.checked)
    return info


def _leave_open(vm: Machine, info: ModuleInfo) -> None:
    """What the decorators of a module fill holds more than those of its functions that were run."""
    for name in sorted(info.facts.registers):
        found = vm.variable(info.frame.ident, name)
        decorator = resolve_import(vm, found) if isinstance(found, Imported) else found
        if isinstance(decorator, Function):
            vm.language.leave_open(vm, decorator)


def _run(vm: Machine, info: ModuleInfo, body: list[ast.stmt], entries: bool = False) -> None:
    """Run statements of an imported module in a state of its own, and keep what they leave; `entries` are left for later."""
    saved = (vm.frame, vm.state, vm.stack, vm.loops, vm.handlers, vm.recording)
    vm.frame, vm.state, vm.stack = info.frame, State(vm.base), [info.frame]
    vm.loops, vm.handlers, vm.recording = [], [], None
    vm.import_depth += 1
    limit, begun, brief = vm.step_limit, vm.steps, vm.brief
    nested, vm.packages.nested = vm.packages.nested, 0
    vm.step_limit, vm.brief = begun + _steps(info), False
    limits, vm.limits = vm.limits, REGISTERING if info.facts.registers else Limits()
    symbolic, vm.symbolic, repeating, vm.repeating = vm.symbolic, False, vm.repeating, 0  # it is nobody's in particular
    entered, vm.entered = vm.entered, {}
    exits, vm.exits = vm.exits, 0
    try:
        vm.follow(lambda: vm.language.execute_block(vm, body))
        if entries:
            _leave_open(vm, info)
        vm.session.leave(vm.state.entries())
    except OutOfSteps:
        vm.frame, vm.stack, vm.loops, vm.handlers, vm.recording = info.frame, [info.frame], [], [], None
        vm.language.give_up_rest(vm, body)
        vm.session.leave(vm.state.entries())
        vm.packages.give_up(info.source)
        vm.lose(f"running {info.source.path} takes too much work")
        if info.source.installed and vm.packages.late:
            vm.modules.pop(info.name, None)  # it must not depend on this check's time what another one knows
    except BaseException:
        # Half a module would make the next check depend on this one's time.
        vm.modules.pop(info.name, None)
        raise
    finally:
        vm.import_depth -= 1
        info.exits, vm.exits = vm.exits, vm.exits + exits
        info.cost, vm.packages.nested = vm.steps - begun - vm.packages.nested, nested + vm.steps - begun
        vm.step_limit, vm.brief, vm.limits = limit + (vm.steps - begun), brief, limits
        vm.symbolic, vm.repeating, vm.entered = symbolic, repeating, entered
        if info.source.installed and not vm.import_depth:
            vm.step_limit = limit
            vm.steps = begun  # they are not the program's
        vm.frame, vm.state, vm.stack, vm.loops, vm.handlers, vm.recording = saved


def _steps(info: ModuleInfo) -> int:
    """How many steps a module may take to run."""
    if not info.source.installed:
        return MAX_MODULE_STEPS
    return MAX_REGISTERING_STEPS if info.facts.registers else MAX_INSTALLED_STEPS


def own_attribute(vm: Machine, info: ModuleInfo, name: str) -> Value | None:
    """The value of a name that a module binds itself; None where it is not set."""
    if name not in info.frame.scope.locals:
        return from_libraries(vm, info.frame, name)
    if vm.patches.redefines(info.source.module.rpartition(".")[2], name):
        return vm.opaque(name)
    define(vm, info, name)
    found = vm.variable(info.frame.ident, name)
    if found is not None and vm.symbolic and (name in info.facts.mutated or is_placeholder(vm, found)):
        return vm.opaque(name)
    if not isinstance(found, Imported):
        return found
    key = (info.name, name)
    if key in vm.resolving:
        # `from . import name` inside the package itself means its submodule.
        return None
    vm.resolving.add(key)
    try:
        return resolve_import(vm, found)
    finally:
        vm.resolving.discard(key)


def module_attribute(vm: Machine, module: Module, name: str) -> Value:
    """`module.name` for a module of the project."""
    source = vm.sources.get(module.name)
    if source is not None and source.installed:
        return part_of_library(vm, f"{source.module}.{name}") or vm.language.given(vm, source, name) or vm.opaque(name)
    info = None if source is None else load(vm, source)
    if info is None:
        return vm.opaque(name)
    found = own_attribute(vm, info, name)
    if found is not None:
        return found
    return submodule(vm, info.source, name) or _of_the_library(vm, info.source, name) or vm.opaque(name)


def _of_the_library(vm: Machine, source: SourceFile, name: str) -> Value | None:
    """A name that the program which stands for a part of a library leaves out: the library's own, where it is installed."""
    module = stands_for(source) if is_model(source) else ""
    own = vm.project.installed(source, module) if module in EVERY_PART else None
    return None if own is None else vm.language.given(vm, own, name)


def submodule(vm: Machine, source: SourceFile, name: str) -> Module | None:
    """The module `name` inside a package."""
    inner = vm.project.submodule(source, name)
    return None if inner is None else known_module(vm, inner)


def loaded_module(vm: Machine, name: object) -> Module | None:
    """`sys.modules[name]`: a module that was imported already."""
    found = next((each for each in vm.modules.values() if each.source.module == name), None)
    return None if found is None else Module(found.name)


def has_module_attribute(vm: Machine, module: Module, name: str) -> bool | None:
    """Whether a module that was run has an attribute; None where it may have been given one that is not seen."""
    info = vm.modules.get(module.name)
    if info is None or name in info.frame.sometimes:
        return None
    return True if name in info.entries or vm.variable(info.frame.ident, name) is not None else None


def set_module_attribute(vm: Machine, module: Module, name: str, value: Value) -> None:
    """`module.name = value`."""
    info = vm.modules.get(module.name)
    if info is not None:
        vm.assign(info.frame.ident, name, value)
