"""Completion of `distml` in the languages of shells, from a description of its commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

TOP = ("--help", "--version")


class Option(NamedTuple):
    """An option: its names, whether a value follows, and the values there are, where they are known."""

    names: tuple[str, ...]
    takes: bool
    choices: tuple[str, ...]
    help: str


class Described(NamedTuple):
    """A command; `words` are what its arguments may be, where that is known, else they are files."""

    name: str
    summary: str
    options: tuple[Option, ...]
    words: tuple[str, ...]


def bash(commands: Sequence[Described]) -> str:
    """For bash from 3.2 on."""
    cases = "\n".join(line for command in commands for line in _bash_values(command))
    words = "\n".join(
        f"    {command.name}) options={_quoted(' '.join(_names(command)))} words={_quoted(' '.join(command.words))} ;;"
        for command in commands
    )
    top = _quoted(" ".join([*(command.name for command in commands), *TOP]))
    return f"""\
# bash completion for distml
_distml() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" options="" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {top} -- "$current"))
    return
  fi
  if [ "$current" = "=" ]; then
    current=""
  elif [ "$previous" = "=" ]; then
    previous="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  case "${{COMP_WORDS[1]}} $previous" in
{cases}
  esac
  case "${{COMP_WORDS[1]}}" in
{words}
  esac
  case "$current" in
    -*) words="$options" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _distml distml
"""


def _bash_values(command: Described) -> Iterator[str]:
    """What follows an option: its values, or a file by the shell's own means."""
    for option in command.options:
        if option.takes:
            patterns = "|".join(_quoted(f"{command.name} {name}") for name in option.names)
            said = (
                f'COMPREPLY=($(compgen -W {_quoted(" ".join(option.choices))} -- "$current")); '
                if option.choices
                else ""
            )
            yield f"    {patterns}) {said}return ;;"


def zsh(commands: Sequence[Described]) -> str:
    """For zsh, to be sourced or put into a folder of `fpath` as `_distml`."""
    listed = "\n".join(f"    {_quoted(_escaped(c.name) + ':' + _escaped(c.summary))}" for c in commands)
    cases = "\n".join(line for command in commands for line in _zsh_case(command))
    return f"""\
#compdef distml
_distml() {{
  local -a commands
  commands=(
{listed}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
{cases}
  esac
}}
if [ "$funcstack[1]" = _distml ]; then
  _distml "$@"
else
  compdef _distml distml
fi
"""


def _zsh_case(command: Described) -> Iterator[str]:
    yield f"    {command.name})"
    yield "      _arguments -s -S \\"
    for option in command.options:
        value = f":value:({' '.join(option.choices)})" if option.choices else ":value:_files" if option.takes else ""
        for name in option.names:
            yield f"        {_quoted(f'*{name}[{_escaped(option.help)}]{value}')} \\"
    words = f"({' '.join(command.words)})" if command.words else "_files"
    yield f"        {_quoted(f'*:argument:{words}')} ;;"


def fish(commands: Sequence[Described]) -> str:
    """For fish."""
    lines = ["# fish completion for distml", "complete -c distml -f -n __fish_use_subcommand -l help -l version"]
    for command in commands:
        lines.append(f"complete -c distml -f -n __fish_use_subcommand -a {command.name} -d {_fish(command.summary)}")
        here = f"complete -c distml -n '__fish_seen_subcommand_from {command.name}'"
        if command.words:
            lines.append(f"{here} -f -a {_fish(' '.join(command.words))}")
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = f" -x -a {_fish(' '.join(option.choices))}" if option.choices else " -r" if option.takes else ""
            lines.append(f"{here} {names}{value} -d {_fish(option.help)}")
    return "\n".join(lines) + "\n"


def _names(command: Described) -> list[str]:
    return [name for option in command.options for name in option.names]


def _quoted(text: str) -> str:
    """One word for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _escaped(text: str) -> str:
    """What means something in the descriptions of zsh."""
    return "".join(f"\\{char}" if char in "\\[]:" else char for char in text)


SHELLS: dict[str, Callable[[Sequence[Described]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
