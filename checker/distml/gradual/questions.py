"""From what a user asks (`FILE::Class`, `--where`) to benches to run trials on."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from distml.gradual.inputs import find_inputs
from distml.gradual.targets import Program, TargetError
from distml.gradual.trial import Bench
from distml.solver.where import WhereError, check_where, inputs_of, parse_where
from distml.source.installed import Environment
from distml.source.project import Project
from distml.source.reading import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from distml.gradual.targets import Target
    from distml.shapes import Dim, Facts, Shape
    from distml.solver.formula import Formula

SHARES = 3
"""Of the time that is left, a target may take this part, unless it is one of the last."""
PART = 0.9
"""How much of the time is shared out: the last question to the solver may go beyond the end of a share."""


class QuestionError(Exception):
    """The question cannot be asked: one line that says why."""


class Question(NamedTuple):
    """What is asked about, and under which assumptions.

    `subject` is `FILE`, `FILE::function`, `FILE::Class` or `FILE::Class.method`; `least` the least size a
    dimension may have; `seconds` the processor time for everything; `environment` is where installed packages lie.
    """

    subject: str
    where: str | None = None
    least: int = 1
    seconds: float = 60.0
    environment: Environment = Environment()

    @property
    def path(self) -> str:
        """The file."""
        return self.subject.partition("::")[0]

    @property
    def name(self) -> str | None:
        """What is asked about in the file, None for everything."""
        return self.subject.partition("::")[2] or None


def benches(question: Question, project: Project | None = None) -> Iterator[Bench]:
    """A bench for every target of a question; `project` stands in for the one on disk.

    One of several targets may take a part of the time that is left, so that those behind it have theirs.

    Raises `QuestionError` where it cannot be asked.
    """
    asked = wanted(question)
    with answering():
        program = program_of(question, project=project)
        targets = program.targets(question.name)
        end = time.process_time() + PART * _left(program)
        for number, target in enumerate(targets):
            left = end - time.process_time()
            program.vm.deadline = time.process_time() + left / min(len(targets) - number, SHARES)
            bench = _bench(program, target, question, asked)
            if bench is not None:
                yield bench


def _left(program: Program) -> float:
    """Seconds of processor time that the question may still take."""
    assert program.vm.deadline is not None
    return max(0.0, program.vm.deadline - time.process_time())


@contextmanager
def answering() -> Iterator[None]:
    """What cannot be read, and targets that are not there, are a `QuestionError`."""
    try:
        yield
    except UnreadableError as error:
        found = error.diagnostic
        raise QuestionError(f"{found.span.path}:{found.span.line}: {found.message}") from None
    except TargetError as error:
        raise QuestionError(str(error)) from None


def wanted(question: Question) -> set[str]:
    """The inputs that the user's constraint speaks of. Raises `QuestionError` where it cannot be read."""
    if question.where is None:
        return set()
    try:
        check_where(question.where)
        return inputs_of(question.where)
    except WhereError as error:
        raise QuestionError(f"--where: {error}") from None


def program_of(
    question: Question, logged: bool = False, project: Project | None = None, flows: bool = False
) -> Program:
    """The program of a question, run once; `logged`: shapes are kept, `flows`: and what is made of what.

    `project` stands in for the one on disk.

    Raises `QuestionError`, `UnreadableError`, `OutOfTime`.
    """
    deadline = time.process_time() + question.seconds
    if project is not None:
        return Program(project.open(question.path), project, deadline, logged, flows)
    if os.path.isdir(question.path):
        raise QuestionError(f"{question.path} is a folder: name one file")
    if not os.path.isfile(question.path):
        raise QuestionError(f"no such file: {question.path}")
    project = Project(environment=question.environment)
    return Program(project.open(question.path), project, deadline, logged, flows)


def _bench(program: Program, target: Target, question: Question, asked: set[str]) -> Bench | None:
    """The bench of a target; of all the targets of a file, those without a tensor are passed over."""
    try:
        inputs = find_inputs(program, target, asked)
    except TargetError:
        if question.name is None:
            return None
        raise
    if question.name is None and not any(given.is_tensor for given in inputs):
        return None
    return Bench(program, target, inputs, where_of(question, program.vm.facts), question.least)


def where_of(question: Question, facts: Facts) -> Callable[[Mapping[str, Shape]], Formula] | None:
    """What makes the user's constraint from the shapes of the inputs; None where nothing is assumed."""
    text = question.where
    return None if text is None else lambda shapes: _assumption(text, shapes, facts)


def _assumption(text: str, shapes: Mapping[str, Shape], facts: Facts) -> Formula:
    """The user's constraint on inputs of these shapes."""

    def axis(name: str, index: int) -> Dim:
        found = facts.axis(shapes[name], index)
        if found is None:
            raise LookupError(index)
        return found

    return parse_where(text, axis, lambda name: facts.shape(shapes[name]).rank)
