"""The entry point: picks the command, and sees to it that every end of a run is one clear line and an exit code.

Exit codes: 0 nothing found, 1 findings, 2 wrong use or a failure of distml; 141 where the reader of the output left, and
128 and the number of the signal where one ended the run.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from argparse import ArgumentParser, HelpFormatter, RawDescriptionHelpFormatter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from distml.cli import commands
from distml.diagnostics.printable import safe
from distml.diagnostics.version import VERSION
from distml.engine.config import ConfigError
from distml.engine.ends import EndedError, heeding
from distml.report.printing import complain, screened
from distml.source.memory import collect_seldom
from distml.source.stack import with_room

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
BROKEN_PIPE = 141
SIGNALED = 128


class _Parser(ArgumentParser):
    """Complains about arguments in one line, whatever they hold; fails where its help cannot be printed."""

    def __init__(self, form: type[HelpFormatter] = HelpFormatter, **options: Any) -> None:
        # A formatter is made for each argument; only what is printed needs the terminal's width, whose module is slow to import.
        super().__init__(formatter_class=partial(form, width=80), **options)
        self._form = form

    def format_usage(self) -> str:
        self.formatter_class = self._form
        return super().format_usage()

    def format_help(self) -> str:
        self.formatter_class = self._form
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        dash = "; write -- before file names that begin with a dash" if message.startswith("unrecognized") else ""
        super().error(safe(message) + dash)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        (file or sys.stderr).write(message)


@with_room
def main(arguments: list[str] | None = None) -> int:
    """Run `distml` with `arguments`, by default those of the process; the exit code."""
    if arguments is None:  # the process is ours
        collect_seldom()
    given = sys.argv[1:] if arguments is None else arguments
    if not _streams_are_open():
        return _ended("error: standard output is closed", 2)
    try:
        with screened():
            return _guarded(given)
    finally:
        for stream in (sys.stdout, sys.stderr):
            _discard_what_cannot_be_written(stream)


def _guarded(arguments: list[str]) -> int:
    """The exit code of a run, however it ends."""
    try:
        with heeding():
            try:
                return _dispatch(arguments)
            finally:  # also after help, with which argparse leaves by an exception
                sys.stdout.flush()
    except ConfigError as error:
        return _ended(f"error: {error}", 2)
    except BrokenPipeError:
        return BROKEN_PIPE  # whoever read our output has left
    except KeyboardInterrupt as error:
        number = signal.Signals(error.number if isinstance(error, EndedError) else signal.SIGINT)
        return _ended(f"ended by {number.name}", SIGNALED + number)
    except OSError as error:
        what = error.filename or (
            "the output cannot be written" if error.errno in _UNWRITABLE else "the system refused"
        )
        return _ended(f"error: {what}: {error.strerror or error}", 2)
    except MemoryError:
        pass  # what was allocated is let go of with the exception
    except Exception as error:
        from distml.engine.one import describe

        return _ended(f"failed: {describe(error)}", 2)
    from distml.source.memory import memory_of_system

    limit, remedy = memory_of_system()
    return _ended(f"error: out of memory: ended {limit}: {remedy}", 2)


def _ended(message: str, code: int) -> int:
    """Say why a run ended, where that can still be said."""
    with suppress(OSError, ValueError):
        complain(f"distml: {' '.join(message.splitlines())}")
        sys.stderr.flush()
    return code


def _dispatch(arguments: list[str]) -> int:
    name = arguments[0] if arguments else ""
    command = commands.find(name) if name and not name.startswith("-") else None
    if command is None:
        return _top_level(arguments)
    parser = _Parser(prog=f"distml {name}", description=command.SUMMARY, allow_abbrev=False)
    command.configure(parser)
    own, rest = arguments[1:], []
    if (name_of_rest := getattr(command, "REST", None)) and "--" in own:
        cut = own.index("--")
        own, rest = own[:cut], own[cut + 1 :]
    options = parser.parse_args(own)
    if name_of_rest:
        setattr(options, name_of_rest, rest)
    return command.run(options)


def _top_level(arguments: list[str]) -> int:
    """`distml --help`, `--version` and everything that is no command."""
    listed = commands.every()
    width = max(map(len, listed))
    lines = [f"  {name.ljust(width)}  {command.SUMMARY}" for name, command in listed.items()]
    parser = _Parser(
        prog="distml",
        description="Finds tensor-shape errors in Python source without importing or running it.",
        epilog="\n".join(["commands:", *lines, "", "`distml COMMAND --help` describes a command."]),
        form=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"distml {VERSION}")
    parser.add_argument("command", metavar="COMMAND", choices=tuple(listed), help=f"one of {', '.join(listed)}")
    parser.parse_args(arguments[:1])
    return 2


def _streams_are_open() -> bool:
    """Whether there is a standard output. Closed streams are opened on nothing, so that no file of ours takes their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 lives as long as the process
    return sys.stdout is not None


def _is_broken(stream: TextIO) -> bool:
    """Whether what was printed cannot be written."""
    try:
        stream.flush()
    except (OSError, ValueError):
        return True
    return False


def _discard_what_cannot_be_written(stream: TextIO) -> None:
    """Keep Python from complaining about it at exit."""
    if _is_broken(stream):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
