"""The shapes in a file, or in one function, class or method of it: what `distml shapes` shows.

A file is followed as `distml check` follows it: the module from top to bottom, and then, for any inputs, what running it does
not reach. Of what is named the inputs may be any, or those that the user states (`--input`, `--where`).
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from distml.diagnostics.model import Span
from distml.diagnostics.registry import rule
from distml.diagnostics.rule import Severity
from distml.gradual.inputs import find_inputs
from distml.gradual.layers import Layers, layers_of
from distml.gradual.questions import QuestionError, answering, program_of, wanted, where_of
from distml.gradual.shape_names import SymbolNames
from distml.gradual.shown import Failure, Shown, different_calls, entry_of, layers_shown
from distml.gradual.stated import Stated, shapes_of, stated_inputs
from distml.gradual.targets import ENTRY_POINTS, TargetError
from distml.gradual.trial import MAX_RANK, MORE, Bench, Plan
from distml.gradual.work import PRODUCTS
from distml.interp.flow_log import FlowLog
from distml.interp.machine import OutOfTime
from distml.interp.shape_log import Place, ShapeLog
from distml.interp.symbolic import analyze_class, analyze_rest, is_unvisited
from distml.interp.unsettled import unsettle_module
from distml.source.suppressions import hidden_by
from distml.values import Tensor, Union

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from distml.gradual.inputs import Input
    from distml.gradual.questions import Question
    from distml.gradual.targets import Program, Target
    from distml.gradual.trial import Trial
    from distml.source.file import SourceFile
    from distml.source.project import Project
    from distml.values import Value

STEPS_OF_EACH = 1500
"""Statements and rules that a run of one function may take where a whole file is asked about."""
LIBRARIES = ("torch", "tensorflow", "keras", "jax", "flax", "numpy")
"""Packages that tell of which library an input is that says nothing of it: the first that the file imports."""


def find_shapes(question: Question, inputs: Sequence[str] = (), project: Project | None = None) -> Shown:
    """The shapes in what a question names; `project` stands in for the one on disk.

    Raises `QuestionError` where it cannot be asked.
    """
    asked = wanted(question)
    with answering():
        stated = stated_for(question, inputs)
        program = program_of(question, True, project)
        finder = Finder(program, question, stated)
        if question.name is None:
            finder.whole()
        else:
            finder.named(question.name, asked)
        return finder.shown()


def stated_for(question: Question, inputs: Sequence[str]) -> tuple[Stated, ...]:
    """The inputs that are stated; raises `QuestionError` where nothing is named that has them."""
    stated = stated_inputs(inputs)
    if question.name is None and (stated or question.where is not None):
        raise QuestionError("name what has the inputs that --input and --where speak of: FILE::NAME")
    return stated


class Finder:
    """Follows what is asked about, and gathers what was seen."""

    def __init__(self, program: Program, question: Question, stated: tuple[Stated, ...]) -> None:
        assert program.vm.shape_log is not None
        self.program = program
        self.question = question
        self.stated = stated
        self.log: ShapeLog = program.vm.shape_log
        self._nodes: list[ast.stmt] = []
        self.failures: dict[Failure, None] = {}
        self.notes: dict[str, None] = {}
        self._layers: Layers | None = None
        self._line = 0

    # --- what is followed ------------------------------------------------------------------

    def whole(self) -> None:
        """The whole file: models that running it did not reach, and then whatever is left."""
        program, vm = self.program, self.program.vm
        try:
            program.max_steps = STEPS_OF_EACH
            for node in program.source.tree.body:
                vm.check_time()
                if isinstance(node, ast.ClassDef) and _is_open(program, node):
                    self.attempt(node.name)
            self._rest(lambda: analyze_rest(vm, lambda: None))
        except OutOfTime:
            self.notes["the time limit was reached: what is missing was not followed"] = None
        self.found()

    def named(self, name: str, asked: set[str]) -> None:
        """A function, class or method."""
        program = self.program
        node = _find(program.source.tree, name)
        if node is not None:
            self._nodes.append(node)
        self.log = program.vm.shape_log = ShapeLog(program.vm)
        try:
            target = self.target(name)
        except TargetError:
            if not isinstance(node, ast.ClassDef) or self.stated or asked:
                raise
            self._class(node)
            return
        where = target.function.node
        if program.source.path != program.vm.frame_of(target.function.frame).module.source.path:
            self.notes[f"{target.name} is not written in this file"] = None
        elif node is None or not node.lineno <= where.lineno <= (node.end_lineno or 0):
            self._nodes.append(_around(program.source.tree, where))
        self.run(target, asked)
        if isinstance(node, ast.ClassDef):
            self._class(node)

    def attempt(self, name: str) -> None:
        """A model or function that was not asked for by name."""
        try:
            self.run(self.target(name), set())
        except TargetError:
            return

    def target(self, name: str) -> Target:
        """The function of a name. Making an object of a class is shown, trying whether a function makes a model is not."""
        program = self.program
        if isinstance(_find(program.source.tree, name.partition(".")[0]), ast.ClassDef):
            (target,) = program.targets(name)
        else:
            with self._silent():
                (target,) = program.targets(name)
        return target

    def run(self, target: Target, asked: set[str]) -> None:
        """Run a target on its inputs, and keep what was seen."""
        program, vm = self.program, self.program.vm
        inputs = self.inputs(target, asked)
        question = self.question
        if not any(given.is_tensor for given in inputs) and question.name is None:
            return  # it is followed with what nothing has reached
        if inputs and not any(given.is_tensor for given in inputs):
            names = ", ".join(given.name for given in inputs)
            self.notes[
                f"nothing shows that a parameter of {target.name} is a tensor ({names}): say so with --input"
            ] = None
        bench = Bench(program, target, inputs, where_of(question, vm.facts), question.least)
        shapes = shapes_of(vm, self.stated, question.least)
        kinds = {each.name: each.dtype for each in self.stated}
        bench.given = {
            given.name: Tensor(given.lib, shapes[given.name], kinds[given.name])
            for given in inputs
            if given.name in shapes
        }
        trial = self._trial(bench)
        if trial is None:
            return
        if trial.failure is not None:
            self.fails(trial.failure.place.path, trial.failure.place.line, trial.failure.text)
        if not trial.complete:
            self.notes[f"{target.name}: {trial.reason}"] = None

    def inputs(self, target: Target, asked: set[str]) -> tuple[Input, ...]:
        """The inputs of a target: of the library that the user states, or that the file uses where nothing else tells."""
        lib_of = {each.name: each.lib for each in self.stated}
        with self._silent():
            inputs = find_inputs(self.program, target, asked, lib_of)
        usual = library_in(self.program.source)

        def library(given: Input) -> str:
            guessed = usual if given.lib == "torch" and _says_nothing(target, given.name) else given.lib
            return lib_of.get(given.name) or guessed

        return tuple(given._replace(lib=library(given)) for given in inputs)

    def _trial(self, bench: Bench) -> Trial | None:
        """A run with inputs of any rank; where layers take several ranks, one with the highest of those, which is said.

        None where a function that was not named takes too much work.
        """
        whole_model = self.question.name is not None and "." not in self.question.name
        functions = PRODUCTS if whole_model else ()
        before, log = self.log, ShapeLog(self.program.vm, functions)
        trial = self._logged(bench, Plan(), log)
        if not trial.complete and self.question.name is None:
            self.program.vm.shape_log = before
            return None
        open_ = [n for n, shape in trial.shapes.items() if shape.rank is None and n not in bench.given]
        if len(open_) == 1 and _by_rank(log):
            chosen = self._highest(bench, open_[0], functions)
            if chosen is not None:
                trial, log = chosen
        before.take(log)
        self.program.vm.shape_log = before
        if log.flow is not None:
            self.followed(bench.target, log, log.flow)
        if whole_model and trial.passed and trial.complete:
            self._layers = layers_of(self.program.vm, bench.target, log.layers, log.complete)
            self._line = bench.target.function.node.lineno
        return trial

    def _highest(self, bench: Bench, name: str, functions: Collection[str]) -> tuple[Trial, ShapeLog] | None:
        """The run with the highest rank that an input may have; None where there is no highest."""
        vm = self.program.vm
        if self._logged(bench, Plan(((name, MORE),)), ShapeLog(vm)).passed:
            return None
        for rank in range(MAX_RANK, -1, -1):
            log = ShapeLog(vm, functions)
            trial = self._logged(bench, Plan(((name, rank),)), log)
            if trial.passed:
                said = f"{bench.target.name} is shown for {name} of {rank} axes; it takes others too: see --input"
                self.notes[said] = None
                return trial, log
        return None

    def _logged(self, bench: Bench, plan: Plan, log: ShapeLog) -> Trial:
        vm = self.program.vm
        before, vm.lost, vm.shape_log = vm.lost, {}, log
        flow = vm.flow
        if flow is not None:
            log.flow = vm.flow = FlowLog(vm, flow.places)
        trial = bench.run(plan)
        log.settle()
        if log.flow is not None:
            log.flow.settle()
        vm.lost, vm.flow = {**before, **vm.lost}, flow
        return trial

    def followed(self, target: Target, log: ShapeLog, flow: FlowLog) -> None:
        """A run of a target was chosen, and this is what it made of what."""

    def _class(self, node: ast.ClassDef) -> None:
        """The methods of a class that nothing has reached."""
        vm = self.program.vm
        classes = [cls for cls in vm.classes if getattr(vm.loaded.get(cls.address), "node", None) is node]

        def run() -> None:
            unsettle_module(vm)
            vm.loaded = vm.state
            for cls in classes:
                analyze_class(vm, cls)

        self._rest(run)

    def _rest(self, run: Callable[[], None]) -> None:
        vm = self.program.vm
        for node in ast.walk(self.program.source.tree):
            entered = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and id(node.body[0]) in vm.visited
            if entered:  # what no call has come to in it is not shown
                vm.visited.update(map(id, ast.walk(node)))
        self.program.begin(vm.loaded)
        vm.shape_log = self.log
        run()

    @contextmanager
    def _silent(self) -> Iterator[None]:
        """Nothing that is run in here is shown, nor does it count as reached."""
        vm = self.program.vm
        log, visited = vm.shape_log, set(vm.visited)
        vm.shape_log = None
        try:
            yield
        finally:
            vm.shape_log, vm.visited = log, visited

    # --- what is said ------------------------------------------------------------------------

    def fails(self, path: str, line: int, message: str) -> None:
        if path == self.program.source.path:
            self.failures[Failure(line, message)] = None
        else:
            self.notes[f"{path}:{line}: {message}"] = None

    def found(self) -> None:
        """The findings of the check itself."""
        source, hidden = self.program.source, hidden_by(self.program.source)
        for finding in self.program.vm.findings.values():
            if (
                finding.span.path == source.path
                and rule(finding.code).severity is Severity.ERROR
                and not hidden(finding)
            ):
                self.fails(finding.span.path, finding.span.line, f"[{finding.code}] {finding.message}")

    def shown(self) -> Shown:
        """What was seen, with names for the sizes."""
        source = self.program.source
        parts = _parts(source, self._nodes)
        seen = different_calls(self.log)
        functions: dict[int, list[tuple[Place, Value]]] = {}
        owners = _owners(source.tree)
        for place, values in seen.items():
            for value in values:
                functions.setdefault(owners.get(place.span.line, 0), []).append((place, value))
        if self._layers is not None:
            place = Place(0, "layer", "", Span(self.program.source.path, 0, 0, 0, 0))
            functions.setdefault(owners.get(self._line, 0), []).extend((place, view) for view in self._layers.views())
        names = SymbolNames(functions)
        entries = [
            entry
            for place, values in seen.items()
            if any(first <= place.span.line <= last for first, last in parts)
            and (entry := entry_of(place, values, names)) is not None
        ]
        entries.sort(key=lambda e: (e.line, e.kind == "call", e.end_line, e.end_column, e.column))
        failures = sorted(f for f in self.failures if any(first <= f.line <= last for first, last in parts))
        table = None if self._layers is None else layers_shown(self._layers, names)
        lines, notes = tuple(source.shown_lines), tuple(self.notes)
        return Shown(source.path, lines, parts, tuple(entries), tuple(failures), notes, table)


def _by_rank(log: ShapeLog) -> bool:
    """Whether something that was seen is of one rank or another."""
    ranks = (
        {option.shape.rank for option in value.options if isinstance(option, Tensor)}
        for values in log.seen.values()
        for value in values
        if isinstance(value, Union)
    )
    return any(len(each) > 1 for each in ranks)


def _parts(source: SourceFile, nodes: Sequence[ast.stmt]) -> tuple[tuple[int, int], ...]:
    """The lines that are shown, from and to; all of them where nothing is named."""
    if not nodes:
        lines = source.shown_lines
        return ((1, len(lines) - (len(lines) > 1 and not lines[-1])),)  # behind the last line end there is no line
    found = []
    for node in nodes:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        found.append((first, node.end_lineno or node.lineno))
    return tuple(sorted(found))


def _owners(tree: ast.Module) -> dict[int, int]:
    """The first line of the innermost function around each line; lines of the module itself have none."""
    found: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = max(found.get(line, 0), node.lineno)
    return found


def _find(tree: ast.Module, name: str) -> ast.stmt | None:
    """The function, class or method of a name: `Net`, `Net.forward`."""
    body: list[ast.stmt] = tree.body
    node: ast.stmt | None = None
    for part in name.split("."):
        named = [
            each
            for each in body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and each.name == part
        ]
        if not named:
            return None
        node = named[-1]
        body = getattr(node, "body", [])
    return node


def _around(tree: ast.Module, inner: ast.AST) -> ast.stmt:
    """The statement of the module that holds a function."""
    line = getattr(inner, "lineno", 1)
    return next(each for each in reversed(tree.body) if each.lineno <= line)


def _is_open(program: Program, node: ast.ClassDef) -> bool:
    """Whether running the module left the method that a model is called by to be followed."""
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name in ENTRY_POINTS]
    return any(is_unvisited(program.vm, method) for method in methods)


def _says_nothing(target: Target, name: str) -> bool:
    """Whether a parameter has no annotation."""
    spec = target.function.node.args
    return any(a.arg == name and a.annotation is None for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))


def library_in(source: SourceFile) -> str:
    """The library of inputs that say nothing of it."""
    from distml.ops.dialect import library_of

    imported = {
        name.partition(".")[0]
        for node in ast.walk(source.tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }
    return library_of(next((each for each in LIBRARIES if each in imported), "torch"))
