"""Which files can hold a tensor at all: those that import a tensor library, themselves or through their project.

All others are skipped at once; most files of most projects are.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from distml.source.file import SourceFile
from distml.source.imports import Import, imports
from distml.source.libraries import TENSOR_LIBRARIES
from distml.source.project import Project

_answers: WeakKeyDictionary[Project, dict[str, bool]] = WeakKeyDictionary()


def reaches_tensor_library(source: SourceFile, project: Project) -> bool:
    """Whether `source` imports a tensor library, directly or through files of its project. Cycles are fine."""
    known = _answers.setdefault(project, {})
    if source.location not in known:
        reached = _search(source, project, known)
        known[source.location] = reached
    return known[source.location]


def _search(source: SourceFile, project: Project, known: dict[str, bool]) -> bool:
    waiting = [source]
    seen = {source.location}
    while waiting:
        current = waiting.pop()
        if known.get(current.location):
            return True
        statements = imports(current.text)
        if any(statement.level == 0 and _top(statement) in TENSOR_LIBRARIES for statement in statements):
            return True
        for target in (target for statement in statements for target in _targets(current, statement, project)):
            if target.location not in seen and known.get(target.location) is not False:
                seen.add(target.location)
                waiting.append(target)
    known.update(dict.fromkeys(seen, False))
    return False


def _top(statement: Import) -> str:
    return statement.module.partition(".")[0]


def _targets(source: SourceFile, statement: Import, project: Project) -> Iterator[SourceFile]:
    """The project files an import runs: each package on the way, the module, and modules among the names."""
    parts = statement.module.split(".") if statement.module else []
    module: SourceFile | None = None
    for length in range(0 if statement.level else 1, len(parts) + 1):
        module = project.resolve(source, ".".join(parts[:length]), statement.level)
        if module is not None:
            yield module
        elif length == 1 and not statement.level:
            return
    for name in statement.names:
        if module is not None and name.isidentifier():
            submodule = project.submodule(module, name)
            if submodule is not None:
                yield submodule
