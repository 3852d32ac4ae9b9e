"""`distml run`: all parties of a choreography on this machine. Unlike every other command it executes the code."""

from __future__ import annotations

import traceback
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from ast import literal_eval
from pathlib import Path
from typing import TYPE_CHECKING

from distml.cli.check import seconds
from distml.cli.project import projected, show
from distml.engine.config import ConfigError
from distml.report.printing import complain, say, unscreened

if TYPE_CHECKING:
    from distml.choreo.runtime import PartiesFailed

SUMMARY = "Run all parties of a choreography on this machine, for trying out. Executes the code of the file."
Argument = tuple[str, str, object]


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml run`."""
    parser.add_argument("file", metavar="FILE", help="a Python file with choreographies; its code is executed")
    parser.add_argument("--roles", type=_roles, metavar="A,B", help="the roles of the choreography to call")
    parser.add_argument("--call", metavar="NAME", help="the function, or Class.method (default: the only one)")
    parser.add_argument(
        "--arg",
        type=_argument,
        action="append",
        default=[],
        metavar="ROLE.NAME=LITERAL",
        help="an argument at a role; for a class, of its constructor or its method",
    )
    parser.add_argument("--transport", choices=("threads", "tcp"), default="threads", help="what channels are made of")
    parser.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="for all of it (default: 60)")
    parser.add_argument("--infer-selects", action="store_true", help="write the selects that are missing")


def run(options: Namespace) -> int:
    """Run the parties; 1 where the choreography is refused or a party fails."""
    from distml.choreo.play import PlayError, play, scene
    from distml.choreo.runtime import PartiesFailed

    projection = projected(options.file, None, options.infer_selects)
    if projection.findings:
        show(projection)
        return 1
    arguments = {(role, name): value for role, name, value in options.arg}
    try:
        chosen = scene(projection.checked.module, options.call, options.roles)
        where = "in threads" if options.transport == "threads" else "over TCP on this machine"
        complain(f"executing {chosen.name} of {options.file}: {', '.join(chosen.roles)} {where}")
        with unscreened():
            results = play(projection, chosen, arguments, Path(options.file), options.transport, options.timeout)
    except PlayError as error:
        raise ConfigError(f"{options.file}: {error}") from None
    except PartiesFailed as failure:
        _tell(failure)
        return 1
    say(*(f"{role}: {result!r}" for role, result in results.items()))
    return 0


def _tell(failure: PartiesFailed) -> None:
    """Every party that failed, the one that failed first before the others, and where in its program."""
    order = sorted(failure.errors, key=lambda role: role != failure.role)
    for role in order:
        error = failure.errors[role]
        frames = [
            each
            for each in traceback.extract_tb(error.__traceback__)
            if Path(each.filename).parent.name.startswith("distml-")
        ]
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        text = "".join(traceback.format_exception_only(error)).strip().rpartition("\n")[2]
        complain(f"{role} failed{place}: {text}")


def _roles(text: str) -> list[str]:
    roles = [part.strip() for part in text.split(",")]
    if not all(role.isidentifier() for role in roles):
        raise ArgumentTypeError(f"must be names of roles with commas between them, not {text!r}")
    return roles


def _argument(text: str) -> Argument:
    target, equals, value = text.partition("=")
    role, _, name = target.strip().partition(".")
    if not equals or not role.isidentifier() or not name.isidentifier():
        raise ArgumentTypeError(f"must be ROLE.NAME=LITERAL, not {text!r}")
    try:
        return role, name, literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ArgumentTypeError(f"{value!r} is not a Python literal; strings need quotes") from None
