"""What the commands about shapes have in common: the question, and writing files back."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, TypeVar

from distml.cli.check import add_python, python_of, seconds
from distml.engine.config import ConfigError, load
from distml.report.printing import complain, hand_over, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.gradual.questions import Question
    from distml.gradual.trial import Bench
    from distml.rewrites.model import Rewritten

Answer = TypeVar("Answer")
_OTHER_LEAST = {
    1: ("--allow-empty", 0, "sizes may be 0; otherwise they are at least 1"),
    0: ("--non-empty", 1, "sizes are at least 1; otherwise they may be 0"),
}
"""The option that changes the least size of a dimension, by what it is without that option."""


def add_question(parser: ArgumentParser, least: int) -> None:
    """The arguments that say what is asked. Sizes are at least `least`, unless an option says otherwise."""
    parser.add_argument(
        "subject",
        nargs="?",
        metavar="FILE[::NAME]",
        help="a file, or in it a function, a class, Class.method, or a variable that holds a model; without a name, all of them",
    )
    parser.add_argument("--where", metavar="EXPR", help='what to assume: "x.shape[0] > 5 and x.shape[2] == 224"')
    name, other, text = _OTHER_LEAST[least]
    parser.add_argument(name, dest="least", action="store_const", const=other, default=least, help=text)
    _add_time_limit(parser)
    parser.add_argument(
        "--trace",
        metavar="MODULE:FACTORY",
        help="answer for the model that this returns, instead of FILE, by tracing it with torch: this runs the code",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the answer (default: text)")


def add_inputs(parser: ArgumentParser, subject: str) -> None:
    """The arguments that say what is shown, and for which inputs; `subject` says what can be named."""
    parser.add_argument("subject", metavar="FILE[::NAME]", help=subject)
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SHAPE",
        help='the shape of an input of NAME: "x: float[8, 3, h, w]", or any annotation; may be given several times',
    )
    parser.add_argument("--where", metavar="EXPR", help='what to assume of inputs: "x.shape[0] > 5"')
    add_python(parser)
    _add_time_limit(parser)


def _add_time_limit(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--time-limit", type=seconds, default=60.0, metavar="SECONDS", help="for all of it (default: 60)"
    )


def add_writing(parser: ArgumentParser, what: str) -> None:
    """The arguments that write a file back."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--diff", action="store_true", help=f"print a patch that writes {what} into the file")
    group.add_argument("--write", action="store_true", help=f"write {what} into the file")


def question_of(options: Namespace) -> Question:
    """The question that the arguments ask."""
    from distml.gradual.questions import Question

    _require_where(options)
    if (options.subject is None) is (options.trace is None):
        raise ConfigError("give either FILE[::NAME] or --trace MODULE:FACTORY")
    return Question(options.subject or options.trace, options.where, options.least, options.time_limit)


def question_about_inputs(options: Namespace) -> Question:
    """The question that the arguments of `add_inputs` ask, in the environment that they name, else that of the working folder."""
    from distml.engine.environment import environment
    from distml.gradual.questions import Question

    _require_where(options)
    config, python = load(None, os.curdir), python_of(options)
    config = config if python is None else config._replace(python=python)
    return Question(options.subject, options.where, 1, options.time_limit, environment(config))


def _require_where(options: Namespace) -> None:
    if options.where is not None and not options.where.strip():
        raise ConfigError("--where is empty")


def asked(options: Namespace, answer: Callable[[Bench], Answer]) -> tuple[Question, list[Answer]]:
    """The question, and what it is answered for every target."""
    question = question_of(options)

    def run() -> list[Answer]:
        from distml.gradual.questions import benches

        if options.trace:
            from distml.gradual.tracing import traced

            complain(f"--trace: running the code of {options.trace}")
            return [answer(bench) for bench in traced(options.trace, question)]
        return [answer(bench) for bench in benches(question)]

    return question, in_time(question, run)


def in_time(question: Question, run: Callable[[], Answer]) -> Answer:
    """What `run` answers. Raises `ConfigError` where the question cannot be asked, or takes longer than it may."""
    from distml.engine.limits import GRACE, Alarm, OutOfTimeError
    from distml.gradual.questions import QuestionError
    from distml.interp.machine import OutOfTime

    alarm = Alarm(question.seconds + GRACE)
    try:
        with alarm:
            return run()
    except (OutOfTime, OutOfTimeError, Exception) as error:
        if alarm.rang or isinstance(error, OutOfTime):
            late = f"not answered in {question.seconds:g} s of processor time (--time-limit)"
            raise ConfigError(f"{question.subject}: {late}") from None
        if isinstance(error, QuestionError):
            raise ConfigError(str(error)) from None
        raise


def read(path: str) -> str:
    """The text of the file to rewrite, line ends as they are."""
    from distml.rewrites.writing import read_file

    return read_file(path)


def deliver(path: str, rewritten: Rewritten, write: bool) -> None:
    """Print the patch of a rewritten file, or write the file; what was refused is said on standard error."""
    from distml.rewrites.writing import unified, write_file
    from distml.source.reading import UnreadableError
    from distml.writing.files import WriteError, roots_of

    for refusal in rewritten.refusals:
        complain(f"{path}:{refusal.line}: {refusal.what} is not changed: {refusal.reason}")
    if not write:
        hand_over(unified(path, rewritten))
        return
    try:
        write_file(path, rewritten, roots_of([path]))
    except (WriteError, UnreadableError) as error:
        raise ConfigError(str(error)) from None
    for edit in rewritten.edits:
        say(f"{path}:{edit.line}: {edit.what}{f': {edit.reason}' if edit.reason else ''}")
