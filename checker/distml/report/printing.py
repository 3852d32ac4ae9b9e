"""Everything that commands print goes through here, so that nothing a checked file holds drives a terminal or a log.

Words are said line by line (`say`), with line ends escaped. What is made for programs, a patch or the source of a
party, is handed over as it is where standard output is a file or a pipe (`hand_over`); on a terminal it is shown like
anything else. For what others print, such as messages about arguments, both streams are screened (`screened`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from distml.diagnostics.printable import safe, safe_text

_PAINT = re.compile(r"(\x1b\[(?:0|1|2|1;3[1-4])m)")  # what `Style` writes


class Screen:
    """A text stream that escapes what should not be shown; otherwise the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write, with line feeds and tabs as they are."""
        self.stream.write(safe_text(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def screened() -> Iterator[None]:
    """Standard output and standard error through screens, that never fail at characters they cannot encode."""
    before = sys.stdout, sys.stderr
    for stream in before:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (cast("TextIO", Screen(plain(stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def unscreened() -> Iterator[None]:
    """The plain streams again, for programs that are run on purpose and print for themselves."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(plain, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def plain(stream: TextIO) -> TextIO:
    """The stream behind a screen: for what moves a cursor, and for programs."""
    return stream.stream if isinstance(stream, Screen) else stream


def say(*lines: str, to: TextIO | None = None) -> None:
    """Print lines, on standard output unless told otherwise; each stays one line, whatever it holds."""
    for line in lines:
        (to or sys.stdout).write(safe(line) + "\n")


def complain(*lines: str) -> None:
    """Print lines on standard error."""
    say(*lines, to=sys.stderr)


def say_painted(lines: Iterable[str], to: TextIO | None = None) -> None:
    """Print the lines of a report whose parts are safe already, with the colors it has; by default on standard output."""
    for line in lines:
        parts = (part if number % 2 else safe_text(part) for number, part in enumerate(_PAINT.split(line)))
        plain(to or sys.stdout).write("".join(parts) + "\n")


def hand_over(content: str | bytes) -> None:
    """Print what another program reads: unchanged, unless a person sees it on a terminal."""
    if isinstance(content, bytes):
        if not sys.stdout.isatty():
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return
        content = content.decode("utf-8", "backslashreplace")
    (sys.stdout if sys.stdout.isatty() else plain(sys.stdout)).write(content)
