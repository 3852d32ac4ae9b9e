"""A program run for real and checked; what `reveal_shape` saw in both is compared.

A line that says `# vague` may be known only roughly; every other one must be known exactly. A line that the real
run never reached must not be analyzed either, unless it says `# unknown path`.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from distml.interp import special
from distml.interp.arguments import Arguments
from distml.interp.check import check_file
from distml.interp.machine import Machine
from distml.interp.reveal import describe
from distml.source.project import Project
from distml.values import Value

from interp.real import Match, match


def _kept(value: Any) -> Any:
    """The value as it is now; of a tensor with a history, which cannot be copied, its data."""
    return value.detach().clone() if hasattr(value, "detach") else copy.deepcopy(value)


class Comparison:
    """What both runs saw, by line."""

    def __init__(self, program: str) -> None:
        self.lines = program.splitlines()
        self.real: dict[int, list[Any]] = defaultdict(list)
        self.best: dict[int, list[Match]] = {}
        self.seen: dict[int, list[str]] = defaultdict(list)
        self.stray: dict[int, list[str]] = defaultdict(list)

    def run(self, program: str) -> None:
        """Run the program itself."""

        def reveal_shape(value: Any) -> Any:
            self.real[sys._getframe(1).f_lineno].append(_kept(value))
            return value

        code = compile(program, "program.py", "exec", dont_inherit=True)
        exec(code, {"__name__": "__main__", "reveal_shape": reveal_shape})
        self.best = {line: [Match.NO] * len(values) for line, values in self.real.items()}

    def note(self, vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        """What the interpreter does where it meets `reveal_shape`."""
        value, line = arguments.args[0], getattr(node, "lineno", 0)
        text = describe(vm, value)
        self.seen[line].append(text)
        found = [match(vm, value, real) for real in self.real.get(line, ())]
        if found:
            self.best[line] = [max(pair) for pair in zip(self.best[line], found)]
            if not any(found):
                self.stray[line].append(text)
        return value

    def problems(self) -> list[str]:
        """Every line where the two disagree."""
        found = []
        for line, matches in self.best.items():
            wanted = Match.COVERS if "# vague" in self.lines[line - 1] else Match.EXACT
            if min(matches) < wanted or self.stray[line]:
                worst = self.real[line][matches.index(min(matches))]
                found.append(f"{self._line(line)}: really {worst!r}, but {self.seen[line][:4]} ({min(matches).name})")
            elif wanted is Match.COVERS and min(matches) is Match.EXACT:
                found.append(f"{self._line(line)}: is known exactly, not vaguely")
        stray = [line for line in self.seen if line not in self.real]
        stray = [line for line in stray if "# unknown path" not in self.lines[line - 1]]
        return found + [f"{self._line(line)}: is never reached" for line in stray]

    def _line(self, line: int) -> str:
        return f"line {line}, {self.lines[line - 1].strip()}"

    def exact(self) -> tuple[int, int]:
        """How many real values are known exactly, of how many."""
        every = [each for found in self.best.values() for each in found]
        return sum(each is Match.EXACT for each in every), len(every)


def compare_runs(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Comparison, list[str]]:
    """Run and check a program; the comparison and every problem, findings among them."""
    compared = Comparison(program)
    compared.run(program)
    return compared, compare(compared, program, folder, monkeypatch) + compared.problems()


def compare(compared: Comparison, program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Check a program that was run, and note what is seen; what is found."""
    monkeypatch.setitem(special.SPECIAL, "builtins.reveal_shape", compared.note)
    (folder / "program.py").write_text(program, "utf-8")
    project = Project(str(folder))
    checked = check_file(project.open("program.py"), project, None)
    return [f"line {each.span.line}: {each.code} {each.message}" for each in checked.diagnostics]
