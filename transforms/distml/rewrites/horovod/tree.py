"""Many files at once: which of them train, which belong together, and what becomes of each program.

Most files of a tree name no trainer at all, and are only searched for a few words. Files that import each other are one
program: its scripts are planned first, with the modules they use, and what no script reaches is planned by itself.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field

from distml.diagnostics.model import Diagnostic, Span
from distml.rewrites.horovod.aspects import during
from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.plan import Plan
from distml.rewrites.horovod.rewrite import Outcome, rewrite
from distml.rewrites.model import Refusal
from distml.rewrites.tree import TOO_DEEP
from distml.rewrites.writing import read_file
from distml.source.file import SourceFile
from distml.source.imports import imports
from distml.source.memory import memory_of_system
from distml.source.notebook import is_notebook
from distml.source.project import Project
from distml.source.reading import UnreadableError, read_bytes
from distml.source.roots import project_root
from distml.training.callers import run_by, upwards
from distml.training.launchers import launched_in
from distml.training.program import beside, followed, implied
from distml.training.syntax import nodes_in, runs_as_script
from distml.training.unit import Unit

TRAINER = re.compile(
    rb"GradientTape|apply_gradients|\.minimize\s*\(|\.fit(_generator)?\s*\(|train_on_batch|\.backward\s*\("
    rb"|optimize_loss\s*\(|create_train_op\s*\(|\.train_and_evaluate\s*\(|\.train\s*\(\s*input_fn"
    rb"|\bestimator\.\w*(Estimator|Classifier|Regressor)\b|LightningModule|Trainer\s*\(|Accelerator\s*\(|Learner\s*\("
)
"""What a file with a training loop says."""

PART = re.compile(
    rb"\boptim\b|[Oo]ptimizer|DataLoader|\bDataset\b|\.compile\s*\(|model_fn|input_fn|multiprocessing"
    rb"|Session\b|Supervisor"
)
"""What a file says that makes something a training loop uses."""

LARGEST = 40
"""Files in a program."""
FRAMEWORK = re.compile(rb"\b(tensorflow|keras|torch|lightning|fastai|accelerate|transformers)\b")

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t].*", re.MULTILINE)
_WORD = re.compile(rb"\w+")
_NO_SCRIPTS = frozenset({"__init__.py", "setup.py", "conftest.py"})


@dataclass
class Survey:
    """What was found in the files: an outcome for each program, and what could not be read or rewritten."""

    outcomes: list[Outcome] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    files: int = 0
    skipped: int = 0


def trains(data: bytes) -> bool:
    """Whether a file may hold a training loop, by its words alone."""
    return TRAINER.search(data) is not None and FRAMEWORK.search(data) is not None


def belongs(data: bytes) -> bool:
    """Whether a file may make what a training loop uses: an optimizer, data, a compiled model."""
    return FRAMEWORK.search(data) is not None and (TRAINER.search(data) or PART.search(data)) is not None


def trains_or_starts(path: str, data: bytes) -> bool:
    """Whether a file that names no framework may train, or be a script that has another file train."""
    name = os.path.basename(path)
    return TRAINER.search(data) is not None or not (name in _NO_SCRIPTS or name.startswith("test_"))


def imported_words(data: bytes) -> frozenset[bytes]:
    """The words of the imports in a file."""
    return frozenset(word for line in _IMPORT.findall(data) for word in _WORD.findall(line))


def survey(
    paths: Iterable[str],
    options: Options,
    project: Project,
    overlay: Mapping[str, bytes] | None = None,
    *,
    texts: bool = True,
    limited: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Survey:
    """Plan every program among the files at `paths`; only these may change.

    `overlay` are texts that stand for files on disk, by real path, as in `project`. The changed texts are made and
    certified at once if they are asked for with `texts`, so that a program for which that fails is a problem and no outcome.
    Each program is worked on within `limited`, which raises `TimeoutError` where it takes too long.
    """
    overlay = overlay or {}
    paths = list(paths)
    project.search(_of_launchers(paths, project))
    found = Survey(files=len(paths))
    sources: dict[str, SourceFile] = {}
    trainers: set[str] = set()
    others: dict[str, frozenset[bytes]] = {}
    naming: set[bytes] = set()
    for path in paths:
        try:
            place = os.path.realpath(os.path.join(project.folder, path))
            data = overlay[place] if place in overlay else _searched(path, place, project)
            if not belongs(data):
                if trains_or_starts(path, data):
                    others[path] = imported_words(data)
                naming |= {_stem(path)} if FRAMEWORK.search(data) is not None else set()
                continue
            source = project.open(path)
            if trains(data):
                _ = source.tree
                trainers.add(source.location)
            sources[source.location] = source
        except UnreadableError as error:
            found.problems.append(error.diagnostic)
        except MemoryError:
            found.problems.append(_out_of_memory(path))
    _add_steps(others, project, sources, trainers)
    between = {source.location: source for source in _through_others(others, project, sources, naming)}
    for source in between.values():
        sources[source.location] = source
        if TRAINER.search(source.text.encode("utf-8", "replace")) is not None:
            trainers.add(source.location)
    trainers |= {each.location for each in sources.values() if _leads_outside(each, project, sources)}
    found.skipped = len(paths) - len(sources) - len(found.problems)
    editable = frozenset(os.path.realpath(os.path.join(project.folder, path)) for path in paths)
    planner = _Planner(options, project, editable, overlay, texts, limited, found, frozenset(between))
    for files in _components(sources, project):
        planner.component(files, [each for each in files if each.location in trainers])
    return found


def _of_launchers(paths: list[str], project: Project) -> list[str]:
    """The folders of the files at some paths in which the project's shell scripts have Python look for modules."""
    folders = {os.path.dirname(os.path.realpath(os.path.join(project.folder, path))) for path in paths}
    root = project_root(os.path.commonpath(folders), os.path.exists, (project.folder,)) if folders else ""
    return launched_in(root, sorted(folders)) if folders else []


def _searched(path: str, place: str, project: Project) -> bytes:
    """What is searched for words: the file, or the program of a notebook."""
    return project.open(path).text.encode("utf-8", "replace") if is_notebook(path) else read_bytes(place, path)


def _through_others(
    others: Mapping[str, frozenset[bytes]], project: Project, known: Mapping[str, SourceFile], naming: set[bytes]
) -> Iterator[SourceFile]:
    """Of the other files, given with the words of their imports, those that import a `known` one, also through each other,
    and those that train what they import from a file that names a framework: `naming` are the words for such files.
    """
    waiting, reached = dict(others), dict(known)
    stems = {_stem(location) for location in known} | naming
    while stems:
        new: dict[str, SourceFile] = {}
        for path in [each for each, words in waiting.items() if words & stems]:
            with suppress(UnreadableError):
                source = project.open(path)
                if any(
                    used.location in reached or _trains_by(source, used) for used in _used(source, project, reached)
                ):
                    _ = source.tree
                    del waiting[path]
                    new[source.location] = source
                    yield source
        reached |= new
        stems = {_stem(location) for location in new}


def _add_steps(
    others: Mapping[str, frozenset[bytes]], project: Project, sources: dict[str, SourceFile], trainers: set[str]
) -> None:
    """Add to the known files those that name no framework, and take steps for a known one that imports them."""
    places = {os.path.realpath(os.path.join(project.folder, path)) for path in others}
    for used in [each for source in [*sources.values()] for each in _used(source, project, sources)]:
        if used.location in places and TRAINER.search(used.text.encode("utf-8", "replace")) is not None:
            with suppress(UnreadableError):
                _ = used.tree
                sources[used.location] = used
                trainers.add(used.location)


def _trains_by(source: SourceFile, used: SourceFile) -> bool:
    """Whether a file says what a training loop says, and the framework is named by one that it imports."""
    texts = [each.text.encode("utf-8", "replace") for each in (source, used)]
    return TRAINER.search(texts[0]) is not None and FRAMEWORK.search(texts[1]) is not None


def _stem(location: str) -> bytes:
    """The word by which imports name a module."""
    folder, name = os.path.split(location)
    stem = os.path.splitext(name)[0]
    return os.fsencode(os.path.basename(folder) if stem == "__init__" else stem)


def _leads_outside(source: SourceFile, project: Project, known: Mapping[str, SourceFile]) -> bool:
    """Whether a file imports one that is not among the paths and trains: its loops are told of, and what must be given."""
    used = (each for each in _used(source, project, known) if each.location not in known)
    return any(trains(each.text.encode("utf-8", "replace")) for each in used)


def _components(sources: dict[str, SourceFile], project: Project) -> Iterator[list[SourceFile]]:
    """The files that import each other, directly or through others."""
    group = {location: location for location in sources}

    def find(location: str) -> str:
        while group[location] != location:
            group[location] = location = group[group[location]]
        return location

    for location, source in sources.items():
        for used in _used(source, project, sources):
            if used.location in sources:
                group[find(location)] = find(used.location)
    members: dict[str, list[SourceFile]] = {}
    for location, source in sources.items():
        members.setdefault(find(location), []).append(source)
    yield from members.values()


def _used(source: SourceFile, project: Project, known: Mapping[str, SourceFile]) -> Iterator[SourceFile]:
    """The files of the project that a file imports, also through packages that are not `known` and only hand names on."""
    waiting, seen = [source], {source.location}
    while waiting:
        user = waiting.pop()
        for statement in imports(user.text):
            module = project.resolve(user, statement.module, statement.level)
            if module is None and not statement.level:
                module = (beside if user is source else implied)(user, statement.module, project)
            inner = [project.submodule(module, name) for name in statement.names] if module is not None else []
            for target in (each for each in (module, *inner) if each is not None and each.location not in seen):
                seen.add(target.location)
                yield target
                if target.location not in known and target.is_package:
                    waiting.append(target)


@dataclass
class _Planner:
    """Plans programs; `found` collects what comes of it, `between` are files that only lead to one that trains."""

    options: Options
    project: Project
    editable: frozenset[str]
    overlay: Mapping[str, bytes]
    texts: bool
    limited: Callable[[], AbstractContextManager[None]]
    found: Survey
    between: frozenset[str]
    _shared: frozenset[str] = frozenset()

    def component(self, files: list[SourceFile], trainers: list[SourceFile]) -> None:
        """Files that belong together. Each script is a program with what it imports; scripts that would change one file
        are planned as one, since it can be changed in one way only.

        A package in which everything imports everything has no scripts: its trainers are taken one by one.
        """
        if not trainers:
            return
        outcomes: list[Outcome] = []
        self._shared = self._imported(files) if len(files) <= LARGEST else frozenset()
        entries = trainers if len(files) > LARGEST else [each for each in files if each.location not in self._shared]
        for entry in [*entries, *trainers]:
            if not any(_holds(each, entry) for each in outcomes):
                outcomes += self._plan([entry])
        outcomes = [each for each in outcomes if not _only_uses(each, outcomes)]
        while (pair := _entangled(outcomes)) is not None:
            outcomes = [each for each in outcomes if each not in pair]
            outcomes += self._plan([unit.source for each in pair for unit in each.plan.program.roots])
        self.found.outcomes += outcomes

    def _imported(self, files: list[SourceFile]) -> frozenset[str]:
        """The locations of the files that others import."""
        known = {each.location: each for each in files}
        return frozenset(
            used.location
            for each in files
            for used in _used(each, self.project, known)
            if used.location != each.location
        )

    def _plan(self, roots: list[SourceFile]) -> list[Outcome]:
        try:
            with self.limited():
                outcome = self._outcome(roots)
        except UnreadableError as error:
            self.found.problems.append(error.diagnostic)
        except Exception as error:  # whatever goes wrong on this program must not stop the others
            self.found.problems.append(_trouble(roots[0], error))
        else:
            return [outcome]
        return []

    def _outcome(self, roots: list[SourceFile]) -> Outcome:
        program = followed(roots, self.project, self.between)
        mine = {location: unit for location, unit in program.units.items() if location in self.editable}
        texts = {
            location: unit.source.text if unit.source.notebook or location in self.overlay else read_file(location)
            for location, unit in mine.items()
        }
        outcome = rewrite(program, self.options, self.editable, texts, self._shared)
        if self.texts:
            _ = outcome.files
        return outcome


def _holds(outcome: Outcome, source: SourceFile) -> bool:
    """Whether a program tells all there is to tell of a file: of a script that it imports it does not run what trains."""
    plan = outcome.plan
    if source.location not in plan.program.units:
        return False
    unit = plan.program.units[source.location]
    trained = any(plan.program.unit(each.node) is unit for each in plan.loops) and not _is_script(unit, plan)
    return unit in plan.program.roots or trained or "__main__" not in source.text


def _only_uses(outcome: Outcome, others: list[Outcome]) -> bool:
    """Whether a script runs no training of the modules that it imports, and another script does: it goes on alone."""
    runs = [
        each for each in others if each is not outcome and _trained(each) >= _trained(outcome) and _runs_training(each)
    ]
    program = outcome.plan.program
    refused = any(program.unit(each.node) in program.roots for each in outcome.plan.refusals)
    return bool(runs) and not refused and not _runs_training(outcome)


def _trained(outcome: Outcome) -> set[str]:
    """The files in which a program trains: where its loops stand, and where their steps are made."""
    plan = outcome.plan
    nodes = (node for loop in plan.loops for node in (*loop.steps, loop.node))
    return {plan.program.unit(each).source.location for each in nodes}


def _runs_training(outcome: Outcome) -> bool:
    """Whether a script comes to a step, or makes an optimizer, by what it calls itself."""
    plan, program = outcome.plan, outcome.plan.program
    steps = [step for loop in plan.loops for step in (*loop.steps, loop.node)]
    made = [call for call in program.calls if any(name.startswith("torch.optim.") for name in program.names(call.func))]
    reached = (*upwards(steps, program), *upwards(made, program, direct=True))
    return any(program.unit(node) in program.roots for node in reached)


def _is_script(unit: Unit, plan: Plan) -> bool:
    """Whether a file trains where it is run itself: what stands there is no part of a program that only imports it."""
    guards = [each for each in unit.tree.body if runs_as_script(each)]
    calls = (call for guard in guards for call in nodes_in(guard, ast.Call))
    functions = (each for call in calls for each in run_by(call, plan.program) if isinstance(each, ast.FunctionDef))
    return any(during.trains(each, plan) for each in (*guards, *functions))


def _entangled(outcomes: list[Outcome]) -> tuple[Outcome, Outcome] | None:
    """Two programs of which one would change a file that the other trains with too. A script is its own program, also where one
    that is refused imports it; what scripts share is changed only if all of them can be."""
    for one in outcomes:
        scripts = {unit.source.location for unit in one.plan.program.roots}
        for other in outcomes:
            changed = set(one.plan.changed) - (scripts if other.plan.refusals else set())
            if one is not other and other.plan.loops and changed & set(other.plan.program.units):
                return one, other
    return None


def _trouble(source: SourceFile, error: Exception) -> Diagnostic:
    """Why there is no outcome for a program: LibCST cannot read one of its files, or distml failed."""
    refusal = getattr(error, "refusal", None)
    if isinstance(refusal, Refusal):
        code = "SRC104" if refusal.code == TOO_DEEP else "SRC101"
        return _problem(code, source, refusal.line, f"cannot be rewritten: {refusal.reason}")
    if isinstance(error, TimeoutError):
        return _problem("SRC105", source, 1, str(error))
    if isinstance(error, RecursionError):
        return _problem("SRC104", source, 1, "this program is nested too deeply to be rewritten")
    if isinstance(error, MemoryError):
        return _out_of_memory(source.path)
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return _problem("SRC201", source, 1, f"distml failed on this program: {what}")


def _problem(code: str, source: SourceFile, line: int, message: str) -> Diagnostic:
    return Diagnostic(code, message, Span(source.path, line, 1, line, 2))


def _out_of_memory(path: str) -> Diagnostic:
    limit, remedy = memory_of_system()
    return Diagnostic("SRC106", f"not rewritten: ended {limit}: {remedy}", Span(path, 1, 1, 1, 2))
