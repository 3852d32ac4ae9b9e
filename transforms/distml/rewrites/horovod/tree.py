"""Many files at once: which of them train, which belong together, and what becomes of each program.

Most files of a tree name no trainer at all, and are only searched for a few words. Files that import each other are one
program: its scripts are planned first, with the modules they use, and what no script reaches is planned by itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from distml.diagnostics.model import Diagnostic, Span
from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import Outcome, rewrite
from distml.rewrites.patching import LostPlace
from distml.rewrites.tree import Unreadable
from distml.rewrites.writing import read_file
from distml.source.file import SourceFile
from distml.source.imports import imports
from distml.source.project import Project
from distml.source.reading import UnreadableError, read_bytes
from distml.training.program import Program

TRAINER = re.compile(
    rb"GradientTape|apply_gradients|\.minimize\s*\(|\.fit(_generator)?\s*\(|train_on_batch|\.step\s*\("
    rb"|\.train_and_evaluate\s*\(|\.train\s*\(\s*input_fn|LightningModule|Trainer\s*\(|Accelerator\s*\(|Learner\s*\("
)
PART = re.compile(rb"\boptim\b|[Oo]ptimizer|DataLoader|\bDataset\b|\.compile\s*\(|model_fn|input_fn")
LARGEST = 40
"""Files in a program."""
FRAMEWORK = re.compile(rb"\b(tensorflow|keras|torch|lightning|fastai|accelerate|transformers)\b")


@dataclass
class Survey:
    """What was found in the files: an outcome for each program, and what could not be read or rewritten."""

    outcomes: list[Outcome] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    files: int = 0
    skipped: int = 0


def trains(data: bytes) -> bool:
    """Whether a file may hold a training loop, by its words alone."""
    found = TRAINER.search(data) is not None and FRAMEWORK.search(data) is not None
    return found and (b".backward" in data or any(word != b".step" for word in _words(data)))


def _words(data: bytes) -> Iterator[bytes]:
    """The words of trainers in a file, without what stands behind them."""
    return (found.group().rstrip(b"( \t") for found in TRAINER.finditer(data))


def belongs(data: bytes) -> bool:
    """Whether a file may make what a training loop uses: an optimizer, data, a compiled model."""
    return FRAMEWORK.search(data) is not None and (TRAINER.search(data) or PART.search(data)) is not None


def survey(
    paths: Iterable[str], options: Options, project: Project, overlay: Mapping[str, bytes] | None = None
) -> Survey:
    """Plan every program among the files at `paths`; only these may change.

    `overlay` are texts that stand for files on disk, by real path, as in `project`.
    """
    overlay = overlay or {}
    paths = list(paths)
    found = Survey(files=len(paths))
    sources: dict[str, SourceFile] = {}
    trainers: set[str] = set()
    for path in paths:
        try:
            place = os.path.realpath(os.path.join(project.folder, path))
            data = overlay[place] if place in overlay else read_bytes(place, path)
            if not belongs(data):
                continue
            source = project.open(path)
            _ = source.tree
            sources[source.location] = source
            trainers |= {source.location} if trains(data) else set()
        except UnreadableError as error:
            found.problems.append(error.diagnostic)
    found.skipped = len(paths) - len(sources) - len(found.problems)
    editable = frozenset(os.path.realpath(os.path.join(project.folder, path)) for path in paths)
    for roots in _programs(sources, trainers, project):
        _plan(roots, options, project, editable, overlay, found)
    return found


def _programs(sources: dict[str, SourceFile], trainers: set[str], project: Project) -> Iterator[list[SourceFile]]:
    """The files as programs: those that import each other, directly or through others, where one of them trains.

    A package in which everything imports everything is no program: its trainers are taken one by one.
    """
    group = {location: location for location in sources}

    def find(location: str) -> str:
        while group[location] != location:
            group[location] = location = group[group[location]]
        return location

    for location, source in sources.items():
        for used in _used(source, project):
            if used in sources:
                group[find(location)] = find(used)
    members: dict[str, list[SourceFile]] = {}
    for location, source in sources.items():
        members.setdefault(find(location), []).append(source)
    for files in members.values():
        training = [each for each in files if each.location in trainers]
        if len(files) <= LARGEST and training:
            yield files
        else:
            yield from ([each] for each in training)


def _used(source: SourceFile, project: Project) -> Iterator[str]:
    """The files of the project that a file imports."""
    for statement in imports(source.text):
        module = project.resolve(source, statement.module, statement.level)
        if module is None:
            continue
        for name in (None, *statement.names):
            target = module if name is None else project.submodule(module, name)
            if target is not None:
                yield target.location


def _plan(
    roots: list[SourceFile],
    options: Options,
    project: Project,
    editable: frozenset[str],
    overlay: Mapping[str, bytes],
    found: Survey,
) -> None:
    try:
        program = Program(roots, project)
        texts = {
            location: read_file(unit.source.path) for location, unit in program.units.items() if location in editable
        }
        found.outcomes.append(rewrite(program, options, editable, texts))
    except UnreadableError as error:
        found.problems.append(error.diagnostic)
    except Unreadable as error:
        refusal = error.refusal
        found.problems.append(_problem("SRC101", roots[0], refusal.line, f"cannot be rewritten: {refusal.reason}"))
    except (LostPlace, RecursionError, SyntaxError) as error:
        found.problems.append(_problem("SRC201", roots[0], 1, f"distml failed on this program: {error}"))


def _problem(code: str, source: SourceFile, line: int, message: str) -> Diagnostic:
    return Diagnostic(code, message, Span(source.path, line, 1, line, 2))
