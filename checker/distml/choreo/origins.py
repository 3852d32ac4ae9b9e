"""Where names come from: words of the language that reach a file through others of its project, and what those define."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from distml.choreo.bindings import HOMES, Origin, dotted_names, names_in, resolve
from distml.choreo.imported import Bound, Names, bindings, constant_of, imported_names
from distml.choreo.read import WORDS, dotted, read
from distml.source.nodes import statements
from distml.source.reach import CHOREOGRAPHIES
from distml.source.reading import UnreadableError

if TYPE_CHECKING:
    from distml.source.file import SourceFile
    from distml.source.project import Project

_answers: WeakKeyDictionary[Project, Origins] = WeakKeyDictionary()


def origins_of(source: SourceFile, project: Project) -> Mapping[str, Origin]:
    """The names in a file, as they are written there, that lead to the language or to a choreography through others."""
    if project not in _answers:
        _answers[project] = Origins(project)
    return _answers[project].of(source)


class Outline(NamedTuple):
    """What a file binds at its top, without its tree: its imports, its stars, and the names in the header of each definition."""

    bound: dict[str, Bound]
    stars: list[Bound]
    headers: dict[str, tuple[str, ...]]


class Origins:
    """Answers for the files of a project, each looked at once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, dict[str, Origin]] = {}
        self._defined: dict[str, dict[str, Origin]] = {}
        self._outlines: dict[str, Outline] = {}
        self._bound: dict[str, Names] = {}
        self._answers: dict[object, Origin | None] = {}

    def of(self, source: SourceFile) -> Mapping[str, Origin]:
        """The names in a file, as they are written there, that lead to the language or to a choreography."""
        known = self._known.get(source.location)
        if known is None:
            known = self._known[source.location] = {}  # while it is found out: files may import each other
            self._note(source, _candidates(source.tree), known)
            if known or CHOREOGRAPHIES in source.text:
                self._note(source, _called(source.tree), known)
                for name in imported_names(source.tree, self._bindings(source)) - known.keys():
                    home = constant_of(self._project, self._bindings, source, tuple(name.split(".")))
                    if home is not None:
                        known[name] = Origin(path=home.path)
        return known

    def _note(self, source: SourceFile, names: Iterable[str], known: dict[str, Origin]) -> None:
        for name in sorted({*names} - {""}):
            found = self._lookup(source, tuple(name.split(".")), set())
            if found is not None and found.path != source.path:
                known[name] = found

    def _lookup(self, source: SourceFile, parts: tuple[str, ...], seen: set[object]) -> Origin | None:
        """What a dotted name means in a file."""
        key = (source.location, parts)
        if key in seen or not parts:
            return self._answers.get(key)
        first = not seen
        seen.add(key)
        if key not in self._answers:
            found = self._search(source, parts, seen)
            if found is not None:
                self._answers[key] = found
            elif first:  # of files that import each other, another than the first one looked at may lead there
                self._answers.update(dict.fromkeys([each for each in seen if each not in self._answers]))
        return self._answers.get(key)

    def _search(self, source: SourceFile, parts: tuple[str, ...], seen: set[object]) -> Origin | None:
        if not source.may_bind(parts[0]):
            return None
        bound, stars, headers = self._outline(source)
        if parts[0] in bound:
            return self._imported(source, bound[parts[0]], parts, seen)
        if parts[0] in headers:
            return self._own(source, headers[parts[0]], parts, seen)
        for star in stars:
            if star.module in HOMES and not star.level:
                if parts[0] in WORDS and len(parts) == 1:
                    return Origin(parts[0], path=source.path)
            elif (target := self._project.resolve(source, star.module, star.level)) and target.may_give(parts[0]):
                found = self._lookup(target, parts, seen)
                if found is not None:
                    return found
        return None

    def _own(
        self, source: SourceFile, names: tuple[str, ...], parts: tuple[str, ...], seen: set[object]
    ) -> Origin | None:
        """What a file defines itself: of one that does not import the language, only if a name in its header leads there."""
        if len(parts) > 1:
            return None
        if CHOREOGRAPHIES in source.text or any(self._lookup(source, tuple(each.split(".")), seen) for each in names):
            return self._definitions(source).get(parts[0])
        return None

    def _imported(self, source: SourceFile, bound: Bound, parts: tuple[str, ...], seen: set[object]) -> Origin | None:
        rest = parts[1:]
        if bound.attribute:
            return self._named(source, bound, (bound.attribute, *rest), seen)
        whole = (*bound.module.split("."), *rest)
        for length in range(len(whole) - 1, 0, -1):  # `import a.b` binds `a`: the longest module counts
            found = self._named(source, Bound(".".join(whole[:length]), bound.level), whole[length:], seen)
            if found is not None:
                return found
        return None

    def _named(self, source: SourceFile, module: Bound, parts: tuple[str, ...], seen: set[object]) -> Origin | None:
        """What `parts` means in a module."""
        if not module.level and module.module.partition(".")[0] == "distml":
            whole = ".".join((module.module, *parts))
            home, _, word = whole.rpartition(".")
            return Origin(word, path=source.path) if home in HOMES and word in WORDS else None
        target = self._project.resolve(source, module.module, module.level)
        if target is None:
            return None
        found = self._lookup(target, parts, seen)
        inner = self._project.submodule(target, parts[0]) if found is None and len(parts) > 1 else None
        return self._lookup(inner, parts[1:], seen) if inner is not None else found

    def _outline(self, source: SourceFile) -> Outline:
        known = self._outlines.get(source.location)
        if known is None:
            try:
                with source.lent_tree() as tree:
                    bound, stars, defined = bindings(tree)
                    known = Outline(bound, stars, {name: _header(node) for name, node in defined.items()})
            except UnreadableError:  # reported where that file is checked
                known = Outline({}, [], {})
            self._outlines[source.location] = known
        return known

    def _bindings(self, source: SourceFile) -> Names:
        known = self._bound.get(source.location)
        if known is None:
            try:
                known = bindings(source.tree)
            except UnreadableError:  # reported where that file is checked
                known = Names({}, [], {})
            self._bound[source.location] = known
        return known

    def _definitions(self, source: SourceFile) -> Mapping[str, Origin]:
        """The choreographies and types of the language that a file itself defines."""
        known = self._defined.get(source.location)
        if known is None:
            known = self._defined[source.location] = {}
            known |= _definitions(deepcopy(source.tree), self.of(source), source.path)
        return known


def _definitions(tree: ast.Module, origins: Mapping[str, Origin], path: str) -> Iterator[tuple[str, Origin]]:
    types = resolve(tree, origins)
    module = read(tree)
    for name, value in types.items():
        word = dotted(value).rpartition(".")[2]
        yield name, Origin(word, path=path) if word in WORDS else Origin(what="type of the language", path=path)
    outside = {name for name, each in origins.items() if each.what}
    heirs = (node.name for node in tree.body if isinstance(node, ast.ClassDef) and outside & {*_bases(node)})
    for name in (*module.functions, *module.classes, *heirs):
        yield name, Origin(what="choreography", path=path)


def _bases(node: ast.ClassDef) -> Iterator[str]:
    return (name for base in node.bases for name in dotted_names(base))


def _header(node: ast.stmt) -> tuple[str, ...]:
    """The dotted names that say what a definition is."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return tuple(sorted(names_in(node)))
    return tuple(dotted_names(node.value)) if isinstance(node, ast.Assign | ast.AnnAssign) else ()


def _candidates(tree: ast.Module) -> Iterator[str]:
    """The dotted names that stand in annotations, in the headers of classes, and in other names of types."""
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from names_in(node)
        elif isinstance(node, ast.AnnAssign):
            yield from dotted_names(node.annotation)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.Name | ast.Attribute):
            yield from dotted_names(node.value)


def _called(tree: ast.Module) -> Iterator[str]:
    """The dotted names of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield dotted(node.func.value if isinstance(node.func, ast.Subscript) else node.func)
