"""The runner of GitHub Actions, by way of github-action-toolkit, whose defects end here.

The toolkit prints messages unescaped, so that a line break in one begins a command; writes `%0A` for line breaks into
outputs and reads them back in summaries; takes "false" for true; leaves a group open when its body fails; and cannot
print what is no UTF-8. Nothing else of distml imports it. What the runner obeys is written down in
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

import github_action_toolkit as toolkit

from distml.diagnostics.model import Span
from distml.diagnostics.printable import safe_text

Level = Literal["notice", "warning", "error"]
SUMMARY_LIMIT = 1024 * 1024  # bytes; the runner refuses a longer summary whole
CUT = "\n\nThe summary was longer than GitHub shows and ends here.\n"
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE", "")


class InputError(Exception):
    """An input of the Action has a wrong value; the message is one clear line."""


def given(name: str, default: str = "") -> str:
    """An input of the Action, without space around it. A composite action hands it over as `INPUT_<NAME>`."""
    value = toolkit.get_user_input(name.replace("-", "_"))
    return default if value is None else value.strip()


def lines(name: str) -> list[str]:
    """An input with one item on each line."""
    return [item for line in given(name).splitlines() if (item := line.strip())]


def flag(name: str) -> bool:
    """An input that is true or false, as YAML 1.2 writes them. Raises `InputError` for anything else."""
    value = given(name)
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise InputError(f"{name} must be true or false, not {value!r}")


def choice(name: str, choices: tuple[str, ...]) -> str:
    """An input that is one of a few words, the first unless given. Raises `InputError`."""
    value = given(name) or choices[0]
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


def annotate(level: Level, message: str, title: str = "", span: Span | None = None) -> None:
    """A message on the page of the run, and at its line in the change if it has one."""
    say = {"notice": toolkit.notice, "warning": toolkit.warning, "error": toolkit.error}[level]
    text = toolkit.escape_data(safe_text(message))
    heading = safe_text(title) or None
    if span is None:
        say(text, title=heading)
        return
    say(
        text,
        title=heading,
        file=safe_text(span.path),
        line=span.line,
        end_line=span.end_line,
        col=span.column,
        end_column=span.end_column,
    )


def echo(text: Iterable[str]) -> None:
    """Lines for the log that the runner does not read as commands, whatever they hold."""
    token = secrets.token_hex(16)
    toolkit.echo(f"::stop-commands::{token}")
    try:
        for line in text:
            toolkit.echo(safe_text(line))
    finally:
        toolkit.echo(f"::{token}::")


@contextmanager
def group(title: str) -> Iterator[None]:
    """What is printed inside folds away under `title`, also where the body fails."""
    toolkit.start_group(toolkit.escape_data(safe_text(title)))
    try:
        yield
    finally:
        toolkit.end_group()


def output(name: str, value: str) -> None:
    """Set an output of the step. Raises `OSError` where the runner's file cannot be written."""
    end = f"end-{secrets.token_hex(16)}"
    _append("GITHUB_OUTPUT", f"{name}<<{end}\n{safe_text(value)}\n{end}\n")


def summary(markdown: str) -> None:
    """Append to the summary of the job, as far as there is room for it."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    used = os.path.getsize(path) if os.path.exists(path) else 0
    text = markdown.encode("utf-8", "backslashreplace") + b"\n"
    room = SUMMARY_LIMIT - used - len(CUT.encode())
    if len(text) > room:
        text = text[: max(room, 0)].rpartition(b"\n")[0] + CUT.encode()
    if used + len(text) <= SUMMARY_LIMIT:
        toolkit.JobSummary().add_raw(text.decode("utf-8", "ignore")).write()


def prepare_output() -> None:
    """Let standard output take any text, whatever the machine is set to."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")


def _append(variable: str, text: str) -> None:
    path = os.environ.get(variable)
    if path:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(text)
