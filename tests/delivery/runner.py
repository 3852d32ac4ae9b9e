"""What GitHub's runner makes of a step: commands in what it prints, and the files it writes outputs and summaries to.

After ActionCommand.cs and FileCommandManager.cs of actions/runner: a line is a command if it begins with `::name` after
space, or has `##[name` anywhere; after `stop-commands` only the token counts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_NEW = re.compile(r"\s*::([A-Za-z-]+)(?: ([^:]*(?::(?!:)[^:]*)*))?::(.*)", re.DOTALL)
_OLD = re.compile(r"##\[([A-Za-z-]+)(?: ([^\]]*))?\](.*)", re.DOTALL)
KNOWN = {"error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "add-matcher", "echo"}


class Command(NamedTuple):
    """A command as the runner understood it."""

    name: str
    properties: dict[str, str]
    message: str


def commands(printed: str) -> tuple[list[Command], list[str]]:
    """The commands in what a step printed, and the lines that are none."""
    found: list[Command] = []
    text: list[str] = []
    token: str | None = None
    for line in re.split(r"\r\n|\n|\r", printed):
        command = _parsed(line, token)
        if command is None or (token is not None and command.name != token):
            text.append(line)
        elif token is not None:
            token = None
        elif command.name == "stop-commands":
            token = command.message
            assert token, "the runner refuses an empty token"
        else:
            found.append(command)
    assert token is None, "commands were never switched on again"
    return found, text


def _parsed(line: str, token: str | None) -> Command | None:
    known = KNOWN | ({token} if token else set())
    match = re.fullmatch(rf"\s*::({re.escape(token)})()::(.*)", line) if token else None
    match = match or _NEW.fullmatch(line)
    if match and match[1] in known:
        return Command(match[1], _properties(match[2] or "", data=False), _data(match[3]))
    match = _OLD.search(line)
    if match and match[1] in known:
        return Command(match[1], _properties(match[2] or "", data=True), _data(match[3]))
    return None


def _properties(text: str, data: bool) -> dict[str, str]:
    pairs = (part.partition("=") for part in re.split("[;]" if data else ",", text) if part)
    return {name.strip(): _property(value) for name, _, value in pairs}


def _data(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def _property(text: str) -> str:
    text = text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",")
    return text.replace("%25", "%")


def outputs(path: Path) -> dict[str, str]:
    """The outputs in the file that a step was given for them."""
    lines = iter(path.read_text("utf-8").splitlines(keepends=True))
    found: dict[str, str] = {}
    for line in (each.rstrip("\n") for each in lines):
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, _, end = line.partition("<<")
            value: list[str] = []
            for each in lines:
                if each.rstrip("\n") == end:
                    break
                value.append(each)
            else:
                raise AssertionError(f"the output {name} does not end")
            found[name] = "".join(value).removesuffix("\n")
        elif equals > 0:
            found[line[:equals]] = line[equals + 1 :]
        elif line:
            raise AssertionError(f"the runner refuses {line!r}")
    return found
