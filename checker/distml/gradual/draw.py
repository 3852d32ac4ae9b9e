"""What `distml draw` is asked: models, functions and module variables as graphs of their calls.

A class or function is followed as `distml shapes` follows it. A variable of the module may hold a model that was put together
there: one of Keras with inputs and outputs is drawn as it was built, any other is called.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.gradual.drawing import Drawing, drawn, seen_in
from distml.gradual.layers import parts_of
from distml.gradual.questions import answering, program_of, wanted
from distml.gradual.shapes import Finder, library_in, stated_for
from distml.gradual.stated import shapes_of
from distml.gradual.targets import TargetError, is_layer
from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.interp.check import deep_recursion
from distml.interp.flow_log import FlowLog
from distml.interp.machine import OutOfSteps
from distml.interp.shape_log import ShapeLog
from distml.shapes import Middle, Origin, Shape
from distml.values import Function, InstanceRecord, Ref, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.gradual.drawing import Seen
    from distml.gradual.questions import Question
    from distml.gradual.stated import Stated
    from distml.gradual.targets import Program, Target
    from distml.interp.shape_log import Place
    from distml.source.project import Project
    from distml.values import Value

OUTPUTS = "__outputs__"
"""What a model that was built of tensors holds at its end (`ops/bindings/keras/models`)."""
TOO_MANY = "the graph has too many calls: what came late is missing"


def find_drawings(
    question: Question, inputs: Sequence[str] = (), project: Project | None = None
) -> tuple[Drawing, ...]:
    """The graphs of what a question names; without a name, of every model of the file that is no part of another one.

    `project` stands in for the one on disk. Raises `QuestionError` where it cannot be asked.
    """
    asked = wanted(question)
    with answering():
        stated = stated_for(question, inputs)
        artist = Artist(program_of(question, True, project, flows=True), question, stated)
        if question.name is None:
            artist.every()
        else:
            artist.one(question.name, asked)
        return artist.drawings()


class Artist(Finder):
    """Follows what is asked about, and keeps what was made of what."""

    def __init__(self, program: Program, question: Question, stated: tuple[Stated, ...]) -> None:
        super().__init__(program, question, stated)
        self._seen: list[Seen] = []
        self._parts: dict[str, set[str]] = {}
        self._said: dict[str, tuple[str, ...]] = {}

    # --- what is followed ------------------------------------------------------------------

    def every(self) -> None:
        """The models of the file; one that another one is made of is drawn there."""
        program = self.program
        for node in program.source.tree.body:
            program.vm.check_time()
            said, seen = set(self.notes), len(self._seen)
            if isinstance(node, ast.ClassDef):
                self.attempt(node.name)
            for name in _assigned(node):
                self._variable(name)
            mine = tuple(note for note in self.notes if note not in said)
            self._said.update({each.name: mine for each in self._seen[seen:]})
        inner = {kind for each in self._seen for kind in self._parts.get(each.name, ())}
        self._seen = [each for each in self._seen if each.name.partition(".")[0] not in inner]

    def one(self, name: str, asked: set[str]) -> None:
        """A function, a class, a method, or a variable of the module."""
        if not asked and self._variable(name):
            return
        self.program.vm.shape_log = self.log = ShapeLog(self.program.vm)
        self.run(self.target(name), asked)

    def followed(self, target: Target, log: ShapeLog, flow: FlowLog) -> None:
        """A run of a target was chosen."""
        seen = [(place, value) for place, values in log.seen.items() for value in values]
        self._keep(target.name, target.receiver, flow, target.function.node.lineno, seen)

    def _keep(
        self, name: str, model: Value | None, flow: FlowLog, line: int, places: Sequence[tuple[Place, Value]] = ()
    ) -> None:
        vm = self.program.vm
        modules = {} if not isinstance(model, Ref) else parts_of(vm, model)[0]
        seen = seen_in(vm, name, flow, modules, line, places)
        self._parts[name] = {kind for ref, kind in seen.types.items() if ref != model}
        self._seen.append(seen)
        if not flow.complete:
            self.notes[TOO_MANY] = None

    def _variable(self, name: str) -> bool:
        """Draw the model that a variable of the module holds; False where it holds none."""
        program, vm = self.program, self.program.vm
        value, state = program.value(name), vm.loaded
        if isinstance(value, Function):
            made = program.built(value)
            value, state = made or (None, state)
        vm.state = state
        record = vm.record(value) if isinstance(value, Ref) else None
        if not isinstance(value, Ref) or not isinstance(record, InstanceRecord) or vm.flow is None:
            return False
        ends, place = record.attrs.get(OUTPUTS), vm.flow.places.get(value)
        if place is None or (ends is None and not is_layer(record)):
            return False
        program.begin(state)
        if ends is not None and not self.stated:
            self._keep(name, value, vm.flow.ending(ends), place.line)
        else:
            self._call(name, value, place)
        return True

    def _call(self, name: str, model: Ref, place: Origin) -> None:
        """Call a model with one input, of any shape where none is stated."""
        vm = self.program.vm
        flow, vm.flow = vm.flow, FlowLog(vm, None if vm.flow is None else vm.flow.places)
        log = vm.flow
        shapes = shapes_of(vm, self.stated, self.question.least)
        lib = library_in(self.program.source)
        given = {each.name: Tensor(each.lib or lib, shapes[each.name], each.dtype) for each in self.stated} or {
            "input": Tensor(lib, Shape((), Middle("input", vm.serial())))
        }
        for key, value in given.items():
            log.begins(key, value, place)
        node = ast.Name(
            name, lineno=place.line, col_offset=place.column - 1, end_lineno=place.line, end_col_offset=place.column
        )
        arguments = Arguments(list(given.values()))
        try:
            with deep_recursion():
                vm.follow(lambda: log.finish(call_value(vm, model, arguments, node)))
        except OutOfSteps:
            self.notes[f"{name}: following it takes too much work"] = None
        log.settle()
        log.outermost(model)
        vm.flow = flow
        self._keep(name, model, log, place.line)

    # --- what is drawn -----------------------------------------------------------------------

    def drawings(self) -> tuple[Drawing, ...]:
        """A graph for each model, with names for the sizes."""
        if not self._seen:
            self.found()
            if not self.failures:
                raise TargetError(f"{self.program.source.path} has no model; name a function: FILE::NAME")
        source = self.program.source
        failures, every = tuple(sorted(self.failures)), tuple(self.notes)
        lines = tuple(source.shown_lines)
        return tuple(
            Drawing(each.name, source.path, lines, *drawn(each), failures, self._said.get(each.name, every))
            for each in self._seen
        )


def _assigned(node: ast.stmt) -> list[str]:
    """The names that a statement of the module gives to something."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
