"""The commands of `distml`, one module each.

A command module has `SUMMARY`, `configure(parser)` and `run(options) -> exit code`, and may have `REST`, the name of the
option that takes whatever follows `--`. Other parts of the distribution register theirs as entry points in the group
`distml.commands`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Protocol, cast

GROUP = "distml.commands"

OWN = {
    "check": "distml.cli.check",
    "migrate": "distml.cli.migrate",
    "branches": "distml.cli.branches",
    "shapes": "distml.cli.shapes",
    "draw": "distml.cli.draw",
    "server": "distml.cli.server",
    "horovod": "distml.cli.horovod",
    "explain": "distml.cli.explain",
    "project": "distml.cli.project",
    "run": "distml.cli.run",
    "rules": "distml.cli.rules",
    "merge-sarif": "distml.cli.merge_sarif",
    "completion": "distml.cli.completion",
    "init": "distml.cli.init",
}


class Command(Protocol):
    """What a command module offers."""

    SUMMARY: str

    def configure(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, options: Namespace) -> int:
        """Do it; the exit code."""


def find(name: str) -> Command | None:
    """The command `name`; entry points are looked at only for names that are not our own."""
    if name in OWN:
        return cast(Command, import_module(OWN[name]))
    return registered().get(name)


def registered() -> dict[str, Command]:
    """The commands that came by entry point."""
    from importlib.metadata import entry_points

    return {point.name: cast(Command, point.load()) for point in entry_points(group=GROUP)}


def every() -> dict[str, Command]:
    """All commands, our own first."""
    return {**{name: cast(Command, import_module(path)) for name, path in OWN.items()}, **registered()}
