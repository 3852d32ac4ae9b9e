"""The entry point: picks the command, and sees to broken pipes and Ctrl-C.

Exit codes: 0 nothing found, 1 findings, 2 wrong use or a failure of distml.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import NoReturn

from distml.cli import commands
from distml.diagnostics.printable import safe
from distml.diagnostics.version import VERSION
from distml.engine.config import ConfigError
from distml.report.printing import complain, screened

INTERRUPTED = 130
BROKEN_PIPE = 141


def main(arguments: list[str] | None = None) -> int:
    """Run `distml` with `arguments`, by default those of the process; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    with screened():
        return _run(given)


def _run(given: list[str]) -> int:
    try:
        code = _dispatch(given)
        sys.stdout.flush()
    except ConfigError as error:
        complain(f"distml: error: {error}")
        return 2
    except BrokenPipeError:
        # Whoever read our output has left; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        complain("")
        return INTERRUPTED
    return code


class _Parser(ArgumentParser):
    """Complains about arguments in one line, whatever they hold."""

    def error(self, message: str) -> NoReturn:
        dash = "; before names of files that begin with a dash goes --" if message.startswith("unrecognized") else ""
        super().error(safe(message) + dash)


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
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"distml {VERSION}")
    parser.add_argument("command", metavar="COMMAND", choices=tuple(listed), help=f"one of {', '.join(listed)}")
    parser.parse_args(arguments[:1])
    return 2


if __name__ == "__main__":
    sys.exit(main())
