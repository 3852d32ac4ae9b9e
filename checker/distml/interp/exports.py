"""Names that modules of installed packages give out: they are run when one of their names is needed.

A package may import all names of hundreds of modules, declare its names for type checkers and load them when they are asked
for, or list what its modules define. So a name is looked for in texts first, and only the module that has it is run.
"""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.imports import define, known_module, load, own_attribute, resolved, submodule
from distml.interp.scope import scope_of
from distml.source.reading import UnreadableError
from distml.values import Imported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from distml.interp.machine import Machine
    from distml.source.file import SourceFile
    from distml.values import Value

MAX_MODULES = 400
"""How many modules of a package may be looked through for what a string names."""
MAX_STARS = 40
"""Of how many modules with `import *` one name may be looked for."""
_CHECKING = "TYPE_CHECKING"
_DEFINING = re.compile(
    r"^\s*(?:(?:async\s+)?def|class|from|import|for|with)\b|\bas\s+$|^\s*\w+(?:\s+as\s+\w+)?(?:\s*,\s*\w+(?:\s+as\s+\w+)?)*\s*[,=]\s*$"
)
"""What stands before a name on its line where the line may bind it."""
_TAKING = re.compile(r"\s*(?:[,)]?\s*$|[,)]?\s*#|\s=\s|=\s|,|:)", re.MULTILINE)
"""What follows a name that begins its line where the line may bind it."""


class Exports(NamedTuple):
    """What a module imports besides what running it binds: single `names` for type checkers
    (https://peps.python.org/pep-0562/, https://scientific-python.org/specs/spec-0001/), all names of the `stars`, of which
    `run` are imported when it is run."""

    names: dict[str, Imported]
    stars: list[SourceFile]
    run: list[SourceFile]


def given(vm: Machine, source: SourceFile, name: str) -> Value | None:
    """The value of a name that a module of an installed package has, gives out when it is asked for, or has as a submodule."""
    key = (source.location, name)
    if key in vm.resolving:
        return submodule(vm, source, name)  # `from package import name` inside of the package itself
    if vm.packages.late and not vm.import_depth and source.location not in vm.modules:
        return None
    exports = exports_of(vm, source)
    found: Value | None = exports.names.get(name)
    vm.resolving.add(key)
    try:
        if isinstance(found, Imported):
            return vm.language.resolve_import(vm, found)
        if _binds(vm, source, name):
            info = load(vm, source)
            vm.resolving.discard(key)  # `own_attribute` has the same guard
            found = None if info is None else own_attribute(vm, info, name)
            vm.resolving.add(key)
        if found is None:
            found = from_stars(vm, exports.stars, name)
        return submodule(vm, source, name) if found is None else found
    finally:
        vm.resolving.discard(key)


def from_stars(vm: Machine, stars: Sequence[SourceFile], name: str) -> Value | None:
    """The value of a name that one of these modules has, all of whose names were imported."""
    if name.startswith("_"):
        return None
    for source in _likeliest(stars, name):
        if name in source.text or "import *" in source.text:
            found = given(vm, source, name) if _binds(vm, source, name) or exports_of(vm, source) != _NONE else None
            if found is not None:
                return found
    return None


def awake(vm: Machine, source: SourceFile, words: Iterable[str]) -> bool:
    """Run the modules of an installed package that importing it runs, were not needed yet, and define what a call into it
    names by strings: packages keep lists of what their modules define (`timm.create_model("resnet18")`). Whether all were run."""
    package = source.module.partition(".")[0]
    texts: list[SourceFile] | None = None
    all_run = True
    for word in words:
        texts = _asleep(vm, package) if texts is None else texts
        holding = [each for each in texts if word in each.text and each.location not in vm.modules]
        for form in (rf"(?m)^(?:def|class)\s+{word}\b", rf"([\"']){word}\1"):
            defining = [each for each in holding if re.search(form, each.text)]
            for each in defining:
                all_run &= load(vm, each) is not None
            if defining:
                break
        for info in [each for each in vm.modules.values() if word in each.entries or word in each.costs]:
            if info.source.module.partition(".")[0] == package:
                define(vm, info, word)
    return all_run


def _asleep(vm: Machine, package: str) -> list[SourceFile]:
    """The modules that the known ones of a package import all names of."""
    waiting = [each for each in vm.sources.values() if each.installed and each.module.partition(".")[0] == package]
    found: dict[str, SourceFile] = {}
    while waiting and len(found) < MAX_MODULES:
        for each in exports_of(vm, waiting.pop()).run:
            if each.location not in found:
                found[each.location] = each
                waiting.append(each)
    return list(found.values())


def exports_of(vm: Machine, source: SourceFile) -> Exports:
    """What a module of an installed package gives out without binding it."""
    known = vm.session.exports.get(source.location)
    if known is None:
        known = vm.session.exports[source.location] = _read(vm, source)
    return known


_NONE = Exports({}, [], [])


def _read(vm: Machine, source: SourceFile) -> Exports:
    if _CHECKING not in source.text and "import *" not in source.text:
        return _NONE
    found = Exports({}, [], [])
    with suppress(UnreadableError):
        for node, declared in _imports(source.tree):
            stars = [alias for alias in node.names if alias.name == "*"]
            inner = resolved(vm, source, node.module or "", node.level) if stars or declared else None
            if inner is None or not inner.installed:
                continue
            found.stars.extend(inner for _ in stars)
            found.run.extend(inner for _ in stars if not declared)
            if declared and not stars:
                home = known_module(vm, inner).name
                found.names.update({alias.asname or alias.name: Imported(home, alias.name) for alias in node.names})
    return found


def _imports(tree: ast.Module) -> Iterator[tuple[ast.ImportFrom, bool]]:
    """The imports from modules at the top of a module, with whether they are for type checkers only."""
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom):
            yield statement, False
        elif isinstance(statement, ast.If) and _is_checking(statement.test):
            for part in statement.body:
                yield from ((node, True) for node in ast.walk(part) if isinstance(node, ast.ImportFrom))


def _is_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == _CHECKING) or (
        isinstance(test, ast.Attribute) and test.attr == _CHECKING
    )


def _binds(vm: Machine, source: SourceFile, name: str) -> bool:
    """Whether a module binds a name itself, as was found when it was asked first."""
    known = vm.session.bound.get((source.location, name))
    if known is None:
        known = vm.session.bound[source.location, name] = _is_bound(source, name)
    return known


def _is_bound(source: SourceFile, name: str) -> bool:
    """The text is asked first: parsing hundreds of modules takes seconds."""
    if not _may_bind(source.text, name):
        return False
    with suppress(UnreadableError):
        return name in scope_of(source.tree).locals
    return False


def _may_bind(text: str, name: str) -> bool:
    """Whether some line of a module looks as if it binds a name."""
    for found in re.finditer(rf"\b{re.escape(name)}\b", text):
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if _DEFINING.search(before) or (not before.strip() and _TAKING.match(text, found.end(), found.end() + 80)):
            return True
    return False


def _likeliest(stars: Sequence[SourceFile], name: str) -> list[SourceFile]:
    """Modules that may have a name, those with a name like it first."""
    plain = name.lower()
    return sorted(stars, key=lambda each: -_likeness(each.module, plain))[:MAX_STARS]


def _likeness(module: str, plain: str) -> int:
    """How many letters of a module's own name are in a name."""
    own = module.rpartition(".")[2].replace("_", "")
    return len(own) if own in plain else 0
