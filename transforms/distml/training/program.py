"""A program as a whole: its modules, and what every expression in them can stand for.

A points-to analysis in the manner of Andersen: it does not follow the order of statements, tells attributes apart by
class and name, and does not tell the callers of a function apart. It is made for the questions that a rewriter of
training code has: which optimizer is stepped here, where was it made, which tape computed these gradients, which
data set does this loop go through. It never runs anything, and takes no longer for programs that are wrong.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import abc, defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain, pairwise
from typing import TypeVar

from distml.diagnostics.model import Span
from distml.source.file import SourceFile
from distml.source.imports import imports
from distml.source.nodes import walk
from distml.source.project import Project
from distml.source.reading import UnreadableError
from distml.training.calls import GUESSING
from distml.training.idle import unnamed
from distml.training.remembered import Keeper, remembered
from distml.training.statements import Statements, library
from distml.training.store import Store
from distml.training.syntax import closure, nodes_in, only_in_script, values_given
from distml.training.unit import Unit
from distml.training.values import (
    NOTHING,
    Box,
    Callable,
    Class,
    Foreign,
    Function,
    Instance,
    Module,
    Value,
    Values,
    canonical,
)

_Node = TypeVar("_Node", bound=ast.AST)
_ANY = re.compile(".*")
PASSES = 12
MOST_MODULES = 60
MOST_STEPS = 300_000
"""Expressions evaluated for one program, all passes together: a few seconds."""
MOST_TEXT = 600_000
"""Characters of the modules of one program."""
_FRAMEWORK = re.compile(
    r"\b(tensorflow|keras|torch\w*|horovod)\b|optimizer|\.step\(|\.backward\(|\.run\(|\b(makedirs|mkdir)\(|\byield\b|\bimport \*"
    r"|\bdataclass\b|\bNamedTuple\b|\bargparse\b|\bcsv\.(writer|DictWriter)\(|\brandom\.\w+\(|\bvisdom\b|\burlretrieve\(|\b(imsave|imwrite|savefig|print|open)\("
    r"|\b(logging|shutil|stdout|stderr|tqdm)\b|\bself\.\w+ *[+-]=|\bself\.\w+\.(append|extend)\("
)
_TRAINS = re.compile(
    r"\boptim\b|[Oo]ptimizer|DataLoader|\bDataset\b|tf\.data|\.step\(|\.backward\(|\.fit\(|GradientTape|\.compile\("
)
_UNITS = ("units",)
"""The key by which the modules of a program are read."""
_LIBRARIES = frozenset({"tensorflow", "keras", "torch", "horovod"})
"""What these names mean whatever folders there are: repositories sort their programs into `tensorflow/` and `torch/`."""


def followed(roots: Iterable[SourceFile], project: Project, between: Collection[str] = ()) -> Program:
    """The program of `roots` with all that they import; where that is too large, with those of it that may matter.

    `between` are the locations of files that lead to others of the program, whatever they hold.
    """
    roots = list(roots)
    for words in (None, _FRAMEWORK):
        found = Program(roots, project, words, between)
        if not found.ended:
            return found
    return Program(roots, project, _TRAINS, between)


def beside(script: SourceFile, name: str, project: Project) -> SourceFile | None:
    """The file in the folder of a script that `import name` means when it is run, also where that folder is a package."""
    first = name.partition(".")[0]
    known = first in sys.stdlib_module_names or first in _LIBRARIES
    if known:
        return None
    places = [(1, ""), *_added(script.tree)] if "sys.path." in script.text else [(1, "")]
    found = (project.resolve(script, f"{folder}{name}", level=level) for level, folder in places)
    return next((each for each in found if each is not None), None)


def implied(source: SourceFile, name: str, project: Project) -> SourceFile | None:
    """The module beside one of a package that `import name` meant in Python 2; none that itself takes its name from a library."""
    found = beside(source, name, project) if project.resolve(source, name) is None else None
    first = name.partition(".")[0]
    taken = found is not None and any(
        each.module.partition(".")[0] == first and not each.level for each in imports(found.text)
    )
    return None if taken or found is source else found


def _added(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The folders that a script adds to those of its imports, from its own: how far up, and the way down with dots."""
    for node in nodes_in(tree, ast.Call):
        if ast.unparse(node.func) in ("sys.path.append", "sys.path.insert") and node.args:
            texts = (each.value for each in nodes_in(node.args[-1], ast.Constant))
            parts = [
                part for text in texts if isinstance(text, str) for part in text.split("/") if part not in ("", ".")
            ]
            down = [part for part in parts if part != ".."]
            yield 1 + len(parts) - len(down), "".join(f"{part}." for part in down)


class Program(Statements, Keeper):
    """What is known of the modules that `roots` import, themselves included."""

    def __init__(
        self,
        roots: Iterable[SourceFile],
        project: Project,
        words: re.Pattern[str] | None = None,
        between: Collection[str] = (),
    ) -> None:
        """Modules are followed that hold one of `words` if such are given, or whose location is one of `between`.

        Raises `UnreadableError` where one of `roots` does not parse; what they import is left out instead.
        """
        Keeper.__init__(self)
        self.words, self.between = words, between
        self.project = project
        self.store = Store()
        self.values: dict[ast.AST, Values] = {}
        self.units: dict[str, Unit] = {}
        self.steps = self.text = 0
        self.full = False
        """Whether modules were left out since there were too many of them."""
        self.roots: list[Unit] = []
        self.roots += [self._unit(source) for source in roots]
        self._of: dict[ast.AST, Unit] = {}
        self.followed = {}
        self._settle()
        self.guessing = True
        self.store.mark(*GUESSING)
        self._settle()
        self.followed.clear()
        self._index()

    def _unit(self, source: SourceFile) -> Unit:
        if source.location not in self.units:
            self.units[source.location] = Unit(source)
        return self.units[source.location]

    def _settle(self) -> None:
        for _ in range(PASSES):
            self.store.grew = False
            known = len(self.units)
            for unit in list(self.units.values()):
                if self.ended:
                    return
                self.block([unit.tree], unit)
            if not self.store.grew and known == len(self.units):
                return

    @property
    def ended(self) -> bool:
        """Whether the work on the program was ended, or modules were left out of one that takes all."""
        return self.too_large or (self.words is None and self.full)

    @property
    def too_large(self) -> bool:
        """Whether the work on the program was ended: what is known of it may not be all."""
        return self.steps > MOST_STEPS

    def module_of(self, unit: Unit, name: str, level: int = 0) -> Values:
        """The module of the program that an import in `unit` means, else that of a library."""
        if not level and name.partition(".")[0] in _LIBRARIES:
            return frozenset({library(name)})
        self.store.reads.add(_UNITS)
        found = self.project.resolve(unit.source, name, level)
        if found is None and not level:
            places = (beside(each.source, name, self.project) for each in self.roots)
            found = next(filter(None, places), None) or implied(unit.source, name, self.project)
        if found is not None and (found.location in self.units or self._takes(found)):
            return frozenset({Module(found)})
        return NOTHING if level and found is None else frozenset({library(name)})

    def _takes(self, source: SourceFile) -> bool:
        chosen = source.is_package or source.location in self.between
        if not (chosen or self.words is None or self.words.search(source.text)):
            return False
        if len(self.units) >= MOST_MODULES or self.text + len(source.text) > MOST_TEXT:
            self.full = True
            return False
        self.text += len(source.text)
        try:
            self._unit(source)
            self.store.mark(*_UNITS)
        except UnreadableError:
            return False
        return True

    def exported(self, module: Module, name: str) -> Values:
        """What a module of the program has under a name: a variable, or a module inside it."""
        self.store.reads.add(_UNITS)
        unit = self.units.get(module.source.location)
        if unit is None:
            return NOTHING
        self.store.reads.add(("starred", unit.tree))
        found = self.store.read("name", unit.tree, name)
        found = found or frozenset(v for each in unit.starred if each != module for v in self.member(each, name))
        inner = self.project.submodule(module.source, name) if not found else None
        if inner is not None and (inner.location in self.units or self._takes(inner)):
            return frozenset({Module(inner)})
        return found

    def any_of(self, values: Values) -> Values:
        """The functions and classes of modules of the program, one of which has a name that nobody knows."""
        known = [(each, self.units.get(each.source.location)) for each in values if isinstance(each, Module)]
        names = [
            (each, name) for each, unit in known if unit and self.guessed() for name in unit.lexical.names(unit.tree)
        ]
        found = frozenset(value for each, name in names for value in self.exported(each, name))
        return frozenset(value for value in found if isinstance(value, Callable | Class))

    # Questions

    def _index(self) -> None:
        self._calls: dict[ast.AST, list[ast.Call]] = defaultdict(list)
        self.calls: list[ast.Call] = []
        for unit in self.units.values():
            self._of.update(dict.fromkeys(walk(unit.tree), unit))
        self.idle = {node for each in unnamed(self) for node in walk(each)}
        """What does not run: it stands in functions that nothing names, or where only a module that is the script comes to."""
        self.idle |= {
            each for unit in self.units.values() if unit not in self.roots for each in only_in_script(unit.tree)
        }
        for unit in self.units.values():
            for node in walk(unit.tree):
                if isinstance(node, ast.Call) and node not in self.idle:
                    self.calls.append(node)
                    for value in self.of(node.func):
                        if isinstance(value, Callable):
                            self._calls[value.node].append(node)

    def unit(self, node: ast.AST) -> Unit:
        """The module a node stands in."""
        return self._of[node]

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Where a node stands, for messages."""
        return self.unit(node).source.span(node)

    def of(self, node: ast.AST | None) -> Values:
        """What an expression can stand for; nothing where nobody knows."""
        return self.values.get(node, NOTHING) if node is not None else NOTHING

    @remembered
    def names(self, node: ast.AST | None) -> frozenset[str]:
        """The library paths an expression can stand for, such as `torch.optim.Adam()`.

        An instance of a class of the program has those of the library classes it is derived from: `keras.Model()`.
        """
        found = {value.name for value in self.of(node) if isinstance(value, Foreign)}
        for value in self.of(node):
            if isinstance(value, Instance):
                found |= {base.name + "()" for base in self.lineage(value.type) if isinstance(base, Foreign)}
        return frozenset(found)

    def functions(self, node: ast.AST | None) -> list[Function]:
        """The functions of the program that an expression can stand for."""
        return [value.node for value in self.of(node) if isinstance(value, Callable)]

    def classes(self, node: ast.AST | None) -> list[Class]:
        """The classes of the program whose objects an expression can stand for."""
        return [value.type for value in self.of(node) if isinstance(value, Instance)]

    def made(self, node: ast.AST | None, paths: re.Pattern[str] = _ANY) -> list[ast.Call]:
        """The calls of libraries that make what an expression can stand for, if its whole path is one of `paths`."""
        values = (value for value in self.of(node) if isinstance(value, Foreign) and paths.fullmatch(value.name))
        return [value.node for value in values if isinstance(value.node, ast.Call)]

    def own_bases(self, owner: Class) -> list[ast.ClassDef]:
        """A class of the program and those of the program that it is derived from."""
        return [base.node for base in self.lineage(owner) if isinstance(base, Class)]

    def library_bases(self, owner: Class) -> list[str]:
        """The paths of the classes of libraries that a class of the program is derived from."""
        return [base.name for base in self.lineage(owner) if isinstance(base, Foreign)]

    def held(self, values: Iterable[Value]) -> set[Value]:
        """What the containers among some values hold."""
        return {each for value in values if isinstance(value, Box) for each in self.store.item(value)}

    def callee(self, node: ast.AST | None) -> frozenset[str]:
        """The names of what a call calls, as `names` gives them; none for what is no call."""
        return self.names(node.func) if isinstance(node, ast.Call) else frozenset()

    def matches(self, node: ast.AST | None, paths: re.Pattern[str]) -> bool:
        """Whether an expression can stand for something of a library whose whole path is one of `paths`."""
        return any(map(paths.fullmatch, self.names(node)))

    def ordered(self, calls: Iterable[ast.Call]) -> list[ast.Call]:
        """Calls in the order of the files and lines."""
        files = {unit: number for number, unit in enumerate(self.units.values())}
        return sorted(calls, key=lambda each: (files[self.unit(each)], each.lineno, each.col_offset))

    def calling(self, function: ast.AST | None) -> list[ast.Call]:
        """The calls that can reach a function of the program; none for the code of a module."""
        return self._calls.get(function, []) if function is not None else []

    def calls_of(self, *names: str, method: bool = False) -> Iterator[ast.Call]:
        """The calls of something with one of these paths; with `method`, of any path that ends in `.name`."""
        wanted = {canonical(name) for name in names} | ({f".{name}" for name in names} if method else set())
        found = {number for name in wanted for number in self._numbers.get(name, ())}
        return (self.calls[number] for number in sorted(found))

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """The numbers of the calls of each path, and of those that end in `.name`."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, call in enumerate(self.calls):
            for name in self.names(call.func):
                found[name].append(number)
                found["." + name.rpartition(".")[2]].append(number)
        return found

    def nodes(self, kind: type[_Node]) -> Iterator[_Node]:
        """The nodes of one kind in all modules."""
        return (each for unit in self.units.values() for each in nodes_in(unit.tree, kind))

    def owner(self, name: ast.Name, *, writing: bool = False) -> ast.AST | None:
        """The function, class or module to which a variable belongs; None for what nothing in the file binds."""
        return self.unit(name).lexical.owner_at(name.id, name, writing=writing)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node."""
        return self.unit(node).lexical.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        return self.unit(node).lexical.ancestors(node)

    def around(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """The nodes around a node, innermost first, each behind the part of it in which the node is."""
        return pairwise(chain((node,), self.ancestors(node)))

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement a node is part of, itself if it is one."""
        while not isinstance(node, ast.stmt):
            above = self.parent(node)
            assert above is not None
            node = above
        return node

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function around a node; None at the level of a module or class."""
        for above in self.ancestors(node):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
                return above
        return None

    def sources(self, node: ast.AST, until: abc.Callable[[ast.AST], bool] | None = None) -> set[ast.AST]:
        """The expressions whose values `node` is computed from, through variables, calls, containers and arithmetic.

        What functions of the program compute counts by what they return. `node` itself is among them. What is behind an
        expression for which `until` holds is left out.
        """
        return {*closure([node], lambda each: () if until is not None and until(each) else self.behind(each))}

    @remembered
    def behind(self, node: ast.AST) -> list[ast.AST]:
        """What the value of an expression is computed from at once: what it may be, and its operands."""
        found: list[ast.AST] = []
        for value in self.of(node):
            if isinstance(value, Foreign) and value.node is not None:
                found.append(value.node)
            elif isinstance(value, Box):
                found.append(value.node)
                found += [v.node for v in self.store.item(value) if isinstance(v, Foreign | Box) and v.node]
        return found + self._operands(node)

    def _operands(self, node: ast.AST) -> list[ast.AST]:
        if isinstance(node, ast.Call):
            inside: list[ast.AST] = [*values_given(node)]
            if isinstance(node.func, ast.Attribute):
                inside.append(node.func.value)
            return inside
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return [node.elt, *(each.iter for each in node.generators)]
        if isinstance(node, ast.Lambda):
            return [node.body]
        if isinstance(node, ast.expr):
            return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return [node.value] if isinstance(node, ast.AugAssign) else []
