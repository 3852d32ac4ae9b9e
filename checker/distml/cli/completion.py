"""`distml completion`: what makes a shell complete commands and options of `distml`, printed."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, Namespace

from distml.cli.shells import SHELLS, Described, Option
from distml.diagnostics.printable import safe
from distml.report.printing import hand_over

SUMMARY = "Print a completion script for bash, zsh or fish."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml completion`."""
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell that is to read it")


def run(options: Namespace) -> int:
    """Print the script."""
    hand_over(SHELLS[options.shell](described()))
    return 0


def described() -> list[Described]:
    """All commands as their own parsers declare them, those of other packages included."""
    from distml.cli.commands import every

    found = []
    for name, command in every().items():
        parser = ArgumentParser(prog=f"distml {name}", allow_abbrev=False)
        command.configure(parser)
        options, words = [], list[str]()
        for action in parser._actions:
            if action.help == SUPPRESS:
                continue
            if action.option_strings:
                options.append(_option(parser, action))
            else:
                words += map(str, action.choices or ())
        found.append(Described(name, command.SUMMARY, tuple(options), tuple(words)))
    return found


def _option(parser: ArgumentParser, action: Action) -> Option:
    help_ = parser._get_formatter()._expand_help(action) if action.help else ""
    choices = tuple(map(str, action.choices or ()))
    return Option(tuple(action.option_strings), action.nargs != 0, choices, safe(" ".join(help_.split())))
