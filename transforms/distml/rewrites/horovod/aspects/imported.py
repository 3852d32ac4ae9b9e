"""Files that a script imports: they use the back end, and start nothing unless they communicate while they are imported.

Processes that load data import such a file too, and so do scripts that train nothing, from scripts as well: a function that
needs more than its rank starts the back end itself where that takes no launcher. One that trains need not: a script calls it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from distml.rewrites.horovod.aspects.backends import Way, utilities_of
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callers import upwards
from distml.training.idle import only_as_script
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in
from distml.training.unit import Unit
from distml.training.values import Module, Values

_STARTED = Note(
    "the back end where a function needs it",
    "the script has started it; loading processes and programs that train nothing use this file too",
    "start-up",
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Imported:
    """What the start-up of one such file becomes when all that was asked for in it is known.

    `script`: the file is one itself, which other programs import; it has been started where it trains. `put` puts statements
    behind its imports.
    """

    def __init__(
        self, plan: Plan, unit: Unit, way: Way, script: bool = False, put: Callable[[str], None] = lambda _: None
    ) -> None:
        self.plan, self.unit, self.way, self.script, self.put = plan, unit, way, script, put
        self.program, self.patch = plan.program, plan.patch(unit.tree)
        loops = upwards([loop.node for loop in plan.loops], plan.program, direct=True)
        self._trains = {_outermost(each, plan.program) for each in loops if plan.program.unit(each) is unit}
        self.plain = "\n".join(way.lines)
        self._uses = re.compile(rf"\b{way.world.module}\.")

    def complete(self) -> None:
        """Start the back end where it is needed, and import what is used; again if more is asked for afterwards."""
        start = self._at_import()
        if start:
            self._started(lambda _: True)
        else:
            self.in_functions()
        texts = [*start, *(code for _, code in self._codes())]
        lines = [*self.way.used(texts), *utilities_of(self.plan, self.unit), *start]
        before, self.plain = self.plain, "\n".join(lines)
        if before:
            self.patch.amend(before, self.plain)
        elif self.plain:
            self.put(self.plain)

    def in_functions(self) -> None:
        """Start the back end in each function that needs it, and say rank and size there as where it has been started."""
        needing: set[_Function | None] = set()
        if self.way.again:
            needing = {_outermost(node, self.program) for node, code in self._codes() if self._needs(node, code)}
            self._begin(needing - self._trains if self.script or not self.way.binds else needing)
        started = self._trains | needing | ({None} if self.script else set())
        self._started(lambda node: _outermost(node, self.program) in started)

    def _started(self, where: Callable[[ast.AST], bool]) -> None:
        """Say rank and size as where the back end has been started."""
        for apart, world in self.way.spellings:
            self.patch.amend(apart, world, lambda node, code: not _DEFINES.match(code) and where(node))

    def _codes(self) -> list[tuple[ast.AST, str]]:
        """What was asked for, without the start-up itself."""
        return [each for each in self.patch.requests.codes() if each[1] != self.plain]

    def _at_import(self) -> list[str]:
        """The statements that start the back end while the file is imported, where something needs it then."""
        codes = self._codes()
        if self.way.again:
            needed = any(_outermost(node, self.program) is None for node, code in codes if self._needs(node, code))
        else:
            needed = self._communicates(codes)
        return [*self.way.with_start, "", self.way.settled(self.way.start)] if needed else []

    def _communicates(self, codes: list[tuple[ast.AST, str]]) -> bool:
        """Whether what is put into the file communicates while it is imported."""
        found = [(code, match[1]) for _, code in codes if (match := _DEFINES.match(code)) and self._uses.search(code)]
        names = [self._uses.pattern, r"\.Distributed", *(rf"\b{name}\(" for _, name in found)]
        needs = re.compile("|".join(names))
        return any(
            needs.search(code) and not _DEFINES.match(code) and runs_on_import(node, self.plan) for node, code in codes
        )

    def _needs(self, node: ast.AST, code: str) -> bool:
        """Whether a piece of code needs the back end started: it does more than to ask for a rank that is known without."""
        if _DEFINES.match(code):
            return False
        first = self.way.apart.first
        asks = first in code and not self.way.asks and not self.script
        return bool(self._uses.search(code.replace(first, ""))) or (asks and runs_on_import(node, self.plan))

    def _begin(self, functions: set[_Function | None]) -> None:
        """Put the start into functions, and into those that were added."""
        again = self.way.settled(self.way.again)
        for function in functions - {None}:
            assert function is not None
            self.patch.begin(function, again, _STARTED, first=True)
        for _, code in self._codes():
            if _DEFINES.match(code) and self._uses.search(code.replace(self.way.apart.first, "")) and again not in code:
                self.patch.amend(code, _begun(code, again))


_DEFINES = re.compile(r"\s*(?:def|class) (\w+)")


def _begun(code: str, start: str) -> str:
    """The text of functions, each of which begins with other statements, behind its docstring.

    The methods of a class are left: they are called while a script trains.
    """
    lines = code.splitlines(keepends=True)
    for function in reversed([each for each in ast.parse(code).body if isinstance(each, _Function)]):
        begins = function.body[ast.get_docstring(function, clean=False) is not None]
        added = [f"{' ' * begins.col_offset}{line}\n" for line in start.splitlines()]
        lines[begins.lineno - 1 : begins.lineno - 1] = added
    return "".join(lines)


def _outermost(node: ast.AST, program: Program) -> _Function | None:
    """The outermost function in whose body a node stands, or that it is."""
    found = node if isinstance(node, _Function) else None
    for inner, above in program.around(node):
        if isinstance(above, _Function) and inner in above.body:
            found = above
    return found


def runs_on_import(node: ast.AST, plan: Plan) -> bool:
    """Whether a node runs while a file is imported that is not the script: what its `__main__` guard begins does not."""
    program = plan.program
    running = (each for each in upwards([node], program, direct=True) if program.function(each) is None)
    imported = (each for each in running if not only_as_script(each, program))
    return any(not is_entry(plan, program.unit(each)) for each in imported)


def is_entry(plan: Plan, unit: Unit) -> bool:
    """Whether no other file of the program imports a file: then it is run, and starts the back end."""
    return not any(uses(plan, other, unit) for other in plan.program.units.values() if other is not unit)


def uses(plan: Plan, user: Unit, unit: Unit) -> bool:
    """Whether a file imports another."""
    return unit.source.location in _imported_by(user, plan.program)


@remembered
def _imported_by(user: Unit, program: Program) -> set[str]:
    """The files that a file imports."""
    called = (program.of(call) for call in nodes_in(user.tree, ast.Call))
    found = {each.source.location for values in called for each in _modules(values)}
    for node in nodes_in(user.tree, ast.Import):
        modules = (each for alias in node.names for each in _modules(program.module_of(user, alias.name)))
        found |= {each.source.location for each in modules}
    for each in nodes_in(user.tree, ast.ImportFrom):
        for module in _modules(program.module_of(user, each.module or "", each.level)):
            inner = (program.project.submodule(module.source, alias.name) for alias in each.names)
            found |= {module.source.location, *(source.location for source in inner if source is not None)}
    return found


def _modules(values: Values) -> list[Module]:
    return [each for each in values if isinstance(each, Module)]
