"""The checkers that the benchmarks compare: how each is called, and its findings in one form."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from process import Run, run


class Finding(NamedTuple):
    """What a checker reports: the lines it marks, and what it says."""

    path: Path
    first: int
    last: int
    text: str


class Absent(Exception):
    """A checker that is not installed; the message says what is missing and which option names it."""


Find = Callable[[Path, Sequence[Path]], list[Finding]]


class Checker(NamedTuple):
    """A checker: name, program, version, and a function from a working folder and files in it to its findings."""

    name: str
    program: str
    version: str
    find: Find


def add_options(parser: ArgumentParser) -> None:
    """Declare where the checkers are."""
    group = parser.add_argument_group("checkers")
    beside = shutil.which("distml", path=os.path.dirname(sys.executable))
    group.add_argument("--distml", metavar="PROGRAM", default=beside or "distml")
    group.add_argument("--pyrefly", metavar="PROGRAM", default="pyrefly")
    group.add_argument(
        "--pyrefly-stubs",
        metavar="FOLDER",
        type=Path,
        help="where pyrefly-torch-stubs and its relatives lie, if not beside torch",
    )
    group.add_argument("--torchtyc", metavar="PROGRAM", default="torchtyc")
    group.add_argument(
        "--python", metavar="PROGRAM", default=sys.executable, help="the interpreter that has torch (default: this one)"
    )


def distml(options: Namespace) -> Checker:
    """distml, without its cache."""
    program = _program(options.distml, "distml", "--distml")

    def find(folder: Path, files: Sequence[Path]) -> list[Finding]:
        done = run([program, "check", "--no-cache", "--format", "json", *map(str, files)], folder)
        return [
            Finding(folder / each["path"], each["line"], each["end_line"], f"{each['code']} {each['message']}")
            for each in _json(done)
        ]

    return Checker("distml", program, _version([program, "--version"]), find)


def pyrefly(options: Namespace) -> Checker:
    """Pyrefly with its default rules and its tensor-shape stubs."""
    program = _program(options.pyrefly, "Pyrefly", "--pyrefly")
    _stubs(options)
    command = pyrefly_command(options, program)

    def find(folder: Path, files: Sequence[Path]) -> list[Finding]:
        done = run([*command, *map(str, files)], folder)
        return [
            Finding(
                folder / each["path"],
                each["line"],
                each["stop_line"],
                f"{each['name']} {each['concise_description']}",
            )
            for each in _json(done)["errors"]
            if each["severity"] == "error"
        ]

    return Checker("Pyrefly", program, _version([program, "--version"]), find)


def pyrefly_command(options: Namespace, program: str) -> list[str]:
    """`pyrefly check` up to the files, independent of any configuration around them."""
    stubs = ["--search-path", str(options.pyrefly_stubs.resolve())] if options.pyrefly_stubs else []
    given = ["--preset", "default", "--python-interpreter-path", options.python]
    return [program, "check", "--output-format", "json", *given, *stubs]


def torchtyc(options: Namespace) -> Checker:
    """torchtyc, which runs each program on meta tensors; two programs at a time."""
    program = _program(options.torchtyc, "torchtyc", "--torchtyc")
    given = ["--format", "json", "--severity", "warning", "--timeout", "120", "--python", options.python]

    def one(folder: Path, file: Path) -> list[Finding]:
        done = run([program, "run", *given, str(file)], folder)
        return [  # its lines count from 0, its paths are relative to the program's folder
            Finding(
                folder / file.parent / each["path"],
                each["line"] + 1,
                each["end_line"] + 1,
                f"{each['rule']} {each['message']}",
            )
            for each in _json(done)["diagnostics"]
        ]

    def find(folder: Path, files: Sequence[Path]) -> list[Finding]:
        programs = [file for file in files if file.name != "layers.py"]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            found = threads.map(lambda file: one(folder, file), programs)
            return [finding for findings in found for finding in findings]

    return Checker("torchtyc", program, _version([program, "version"]), find)


CHECKERS: dict[str, Callable[[Namespace], Checker]] = {"distml": distml, "pyrefly": pyrefly, "torchtyc": torchtyc}


def installed(names: Iterable[str], options: Namespace) -> list[Checker]:
    """The checkers of these names; each that is missing is named on standard error and left out."""
    found = []
    for name in names:
        try:
            found.append(CHECKERS[name](options))
        except Absent as error:
            print(f"not compared: {error}", file=sys.stderr)
    return found


def _program(given: str, name: str, option: str) -> str:
    path = shutil.which(given)
    if path is None:
        raise Absent(f"{name} is not installed: no program {given!r}; {option} names another")
    return os.path.abspath(path)


def _stubs(options: Namespace) -> None:
    if options.pyrefly_stubs is not None:
        if not (options.pyrefly_stubs / "torch-stubs").is_dir():
            raise Absent(f"Pyrefly's torch stubs: no torch-stubs in {options.pyrefly_stubs}")
        return
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('shape_extensions') is None)"
    if run([options.python, "-c", probe]).code:
        raise Absent(f"Pyrefly's torch stubs: {options.python} has none; --pyrefly-stubs names a folder that has")


def _version(command: list[str]) -> str:
    words = run(command).output.split()
    return next((word for word in words if word[0].isdigit()), "?")


def _json(done: Run) -> list | dict:  # type: ignore[type-arg]
    try:
        return json.loads(done.output)
    except ValueError:
        raise SystemExit(f"{' '.join(done.command[:3])} failed:\n{done.errors or done.output}") from None
