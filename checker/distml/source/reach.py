"""Which files can hold a tensor, communicate, or use a choreography at all: those that import what does, themselves or
through their project.

All others are skipped at once; most files of most projects are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from distml.source.file import SourceFile
from distml.source.imports import Import
from distml.source.libraries import TENSOR_LIBRARIES
from distml.source.project import Project

_COMMUNICATION = frozenset(
    {
        "horovod",
        "accelerate",
        "deepspeed",
        "mpi4py",
        "lightning",
        "lightning_fabric",
        "pytorch_lightning",
        "detectron2",
        "jax",
    }
)
_HIDDEN = re.compile(r"\btorch\.distributed\b|\bDistributedDataParallel\b")
_WORDS = re.compile(r"rank|barrier|reduce|gather|broadcast|world_size|is_ma(?:in|ster)|main_process|distributed|sync")
"""Without one of these a file does not speak of ranks, whatever it imports."""
CHOREOGRAPHIES = "choreo"
"""Stands in every file that imports the language of choreographies."""
_communicating: WeakKeyDictionary[Project, dict[str, bool]] = WeakKeyDictionary()
_holding: WeakKeyDictionary[Project, dict[str, bool]] = WeakKeyDictionary()


def reaches_tensor_library(source: SourceFile, project: Project) -> bool:
    """Whether `source` imports a tensor library, directly or through files of its project. Cycles are fine."""
    known = _holding.setdefault(project, {})
    if source.location not in known:
        known[source.location] = _reaches(source, project, known)
    return known[source.location]


def _reaches(source: SourceFile, project: Project, known: dict[str, bool]) -> bool:
    waiting = [source]
    seen = {source.location}
    while waiting:
        current = waiting.pop()
        if known.get(current.location) or any(map(_of_tensors, current.imports)):
            return True
        for target in imported_files(current, project):
            if target.location not in seen and known.get(target.location) is not False:
                seen.add(target.location)
                waiting.append(target)
    known.update(dict.fromkeys(seen, False))
    return False


def _of_tensors(statement: Import) -> bool:
    return statement.level == 0 and _top(statement) in TENSOR_LIBRARIES


def may_use_choreographies(source: SourceFile, project: Project) -> bool:
    """Whether a name in `source` may come from the language of choreographies: not where it imports nothing of its project."""
    return CHOREOGRAPHIES in source.text or next(imported_files(source, project), None) is not None


def communicates(source: SourceFile) -> bool:
    """Whether a file imports a library by which ranks communicate."""
    return _HIDDEN.search(source.text) is not None or any(map(_communication, source.imports))


def _communication(statement: Import) -> bool:
    if statement.level:
        return False
    return _top(statement) in _COMMUNICATION or (statement.module == "torch" and "distributed" in statement.names)


def may_communicate(source: SourceFile, project: Project) -> bool:
    """Whether `source`, or a file that it imports itself, names a library by which ranks communicate."""
    known = _communicating.setdefault(project, {})
    if source.location not in known:
        speaks = _WORDS.search(source.text) is not None
        known[source.location] = communicates(source) or (
            speaks and any(communicates(target) for target in imported_files(source, project))
        )
    return known[source.location]


def imported_files(source: SourceFile, project: Project) -> Iterator[SourceFile]:
    """The project files that the imports of a file run."""
    for statement in source.imports:
        yield from _targets(source, statement, project)


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
