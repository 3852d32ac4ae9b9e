"""A parser that gives up says why: source is nested too deeply if it is so with any amount of memory, else memory ran out."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.run import run

from engine.fakes import fake
from engine.nested import parses

LARGE = {
    "lists": "x = [" + "[1, a], " * 60_000 + "]\n",
    "statements": "x = a + 1\n" * 60_000,
    "names": "".join(f"x{number} = {number}\n" for number in range(40_000)),
    "calls": "f(" + "a(1, 'b'), " * 40_000 + ")\n",
}
DEEP = {
    "ternaries": "x = " + "1 if a else " * 20_000 + "2\n",
    "not": "x = " + "not " * 20_000 + "a\n",
    "lambdas": "x = " + "lambda: " * 20_000 + "1\n",
    "parentheses": "x = " + "(" * 300 + "1" + ")" * 300 + "\n",
}


@pytest.mark.parametrize("memory", [16, 32, 4096])
def test_what_stopped_the_parser_is_told_apart(folder: Path, memory: int) -> None:
    """Without a limit these are parsed or are not: that says which it is."""
    for name, text in (LARGE | DEEP).items():
        (folder / f"{name}.py").write_text("import torch\n" + text)
    (folder / "other.py").write_text("import torch\nboom\n")
    report = run(["."], Config(jobs=1, memory_limit=memory, time_limit=1e5), checker=fake)
    found = {each.span.path[:-3]: each for each in report.diagnostics}
    assert found.pop("other").code == "SHP101"
    assert memory > 16 or any(each.code == "SRC106" for each in found.values())
    for name, text in (LARGE | DEEP).items():
        finding = found.pop(name, None)
        if finding is not None and finding.code == "SRC106":  # also where memory ran out before the parser gave up
            assert memory < 4096
            assert f"stopped at {memory} MiB of memory (memory-limit)" in finding.message
            assert "raise it in [tool.distml]" in finding.message
        else:
            assert (finding is None) == parses(text)
            assert finding is None or finding.code == "SRC104"
    assert not found


@pytest.mark.requires("distml.interp.check")
@pytest.mark.parametrize("command", [["migrate"], ["branches"], ["project"], ["run"], ["check", "--no-cache"]])
def test_a_limit_that_the_process_was_started_with_is_named(folder: Path, command: list[str]) -> None:
    (folder / "a.py").write_text("import torch\nx = [" + "[1, a], " * 120_000 + "]\n")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))

    given = [sys.executable, "-P", "-m", "distml.cli", *command, "a.py"]
    done = subprocess.run(given, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert "150 MiB of memory, all that the system allows it (ulimit -v)" in done.stdout + done.stderr
    if command[0] == "check":
        assert done.returncode == 1 and "SRC106" in done.stdout
    else:
        assert done.returncode == 2 and done.stderr.count("\n") == 1


SPENT = """
import ast, mmap, sys
from distml.engine.limits import limit_memory

text = open(sys.argv[2]).read()
kept = [bytes(700 + number % 7 * 40) for number in range(60_000)]
limit_memory(16)
taken, size = [], 1 << 20
while size >= 4096:
    try:
        taken.append(mmap.mmap(-1, size))
    except (MemoryError, OSError):
        size //= 2
for number in range(int(sys.argv[1])):
    kept[number] = None
try:
    ast.parse(text)
except (MemoryError, SyntaxError):
    print("nested too deeply")
"""
"""Takes all address space there is, and then gives some of the memory back to the heap: the stack gets none of it."""


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("freed", [5_000, 20_000, 59_000])
def test_the_stack_has_what_the_parser_needs(folder: Path, name: str, freed: int) -> None:
    (folder / "a.py").write_text(DEEP[name])
    given = [sys.executable, "-P", "-c", SPENT, str(freed), "a.py"]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-400:]
    assert done.stdout == "nested too deeply\n"
