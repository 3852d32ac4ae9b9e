"""Judges a generated program: what distml says of it against what it really does."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from distml.diagnostics.model import Diagnostic
from distml.diagnostics.registry import rule
from distml.diagnostics.rule import Severity
from distml.interp import special
from distml.interp.check import CheckResult, check_file
from distml.source.project import Project

from interp.real import Match, match

FLAG = re.compile(r'^(flag\d+) = "flag', re.MULTILINE)
TURNS = re.compile(r"^(turns\d+) = int", re.MULTILINE)


class Verdict(NamedTuple):
    """`kind`: found, missed, early (a finding before the real mistake), false alarm, wrong (a shape that is not the
    real one), exact, vague, or other (the program is not what it was meant to be)."""

    kind: str
    text: str
    program: str

    def __str__(self) -> str:
        numbered = (f"{number:4} {line}" for number, line in enumerate(self.program.splitlines(), 1))
        return "\n".join([f"{self.kind}: {self.text}", *numbered])

    def excerpt(self) -> str:
        """The lines that lead to the line that the text is about."""
        lines = self.program.splitlines()
        found = re.search(r"line (\d+)", self.text)
        if found is None:
            return str(self)
        wanted = {int(found[1])}
        names = set(re.findall(r"\b\w+\d+\b", lines[int(found[1]) - 1]))
        for number in range(int(found[1]) - 1, 0, -1):
            here = set(re.findall(r"\b\w+\d+\b", lines[number - 1]))
            if names & here:
                wanted.add(number)
                names |= here
        return "\n".join(f"{number:4} {lines[number - 1]}" for number in sorted(wanted))


class Seen:
    """What `reveal_shape` saw in the real runs, and how well the checker knew it."""

    def __init__(self) -> None:
        self.real: dict[int, list[Any]] = defaultdict(list)
        self.best: dict[int, list[Match]] = {}
        self.said: dict[int, list[str]] = defaultdict(list)

    def record(self, value: Any) -> Any:
        self.real[sys._getframe(1).f_lineno].append(value)
        return value

    def note(self, vm: Any, arguments: Any, node: Any) -> Any:
        from distml.interp.reveal import describe

        value, line = arguments.args[0], node.lineno
        found = [match(vm, value, real) for real in self.real[line]]
        self.best[line] = [max(pair) for pair in zip(self.best.get(line, [Match.NO] * len(found)), found)]
        self.said[line].append(describe(vm, value))
        return value


def environments(program: str) -> Iterator[dict[str, str]]:
    """Every way that the flags and numbers of turns of a program may be."""
    names = [*FLAG.findall(program), *TURNS.findall(program)]
    options = [("", "1") if name.startswith("flag") else ("0", "1", "3") for name in names]
    for chosen in product(*options):
        yield {name: value for name, value in zip(names, chosen) if value}


def run(
    program: str, environment: Mapping[str, str], reveal: Callable[[Any], Any]
) -> tuple[BaseException, list[int]] | None:
    """Run a program; the exception that ended it with the lines it passed, or None."""
    code = compile(program, "program.py", "exec", dont_inherit=True)
    with mock.patch.dict(os.environ, environment):
        try:
            exec(code, {"__name__": "__main__", "reveal_shape": reveal})
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            return error, [f.lineno or 0 for f in frames if f.filename == "program.py"]
    return None


def fails(program: str) -> bool:
    """Whether a program that is run ends in an error of a library."""
    namespace: dict[str, Any] = {"__name__": "program"}
    try:
        exec(compile(program, "program", "exec", dont_inherit=True), namespace)
    except RuntimeError:
        return True
    return False


def runs(program: str) -> bool:
    """Whether a program that is run ends without an error."""
    try:
        exec(compile(program, "program", "exec", dont_inherit=True), {"__name__": "__main__"})
    except Exception:
        return False
    return True


def errors_of(program: str, seen: Seen | None = None) -> list[Diagnostic]:
    """The errors that distml finds in a program, in order of lines."""
    with _revealing(seen):
        return _errors(_checked(program))


def errors_by_function(program: str) -> dict[str, list[Diagnostic]]:
    """The errors that distml finds in the functions at the top of a program, by their names."""
    starts = {
        n: line[4:].partition("(")[0] for n, line in enumerate(program.splitlines(), 1) if line.startswith("def ")
    }
    found: dict[str, list[Diagnostic]] = {}
    for error in errors_of(program):
        found.setdefault(starts[max(start for start in starts if start <= error.span.line)], []).append(error)
    return found


def revealed(program: str) -> list[str]:
    """What distml says where a program asks for a shape."""
    return [each.text for each in _checked(program).revealed]


def errors_and_revealed(program: str) -> tuple[list[Diagnostic], list[str]]:
    """Both, of one check."""
    checked = _checked(program)
    return _errors(checked), [each.text for each in checked.revealed]


def forms_in(text: str) -> list[str]:
    """The expressions of a text, one a line between its first and its last."""
    return text.split("\n")[1:-1]


def told_otherwise(head: str, forms: Sequence[str], *, apart: bool = False) -> list[tuple[str, str, str]]:
    """The expressions after a program of which another shape is told than they have, with both. Those that change what they are
    given are run `apart`, each after the program anew."""
    calls = [f"def f{place}():\n    reveal_shape({form})\nf{place}()" for place, form in enumerate(forms)]
    asked = calls if apart else [f"reveal_shape({form})" for form in forms]
    errors, told = errors_and_revealed("\n".join([head, *asked]))
    assert not errors
    real, names = [], dict[str, object]()
    for form in forms:
        if apart or not names:
            names = {}
            exec(head, names)
        real.append(str(list(eval(form, names).shape)))
    shown = [re.sub(r"^(Tensor|Parameter|ndarray)", "", each) for each in told]
    return [each for each in zip(forms, shown, real, strict=True) if each[1] != each[2]]


def _errors(checked: CheckResult) -> list[Diagnostic]:
    return [each for each in checked.diagnostics if rule(each.code).severity is Severity.ERROR]


def _checked(program: str) -> CheckResult:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "program.py").write_text(program, "utf-8")
        project = Project(folder)
        return check_file(project.open("program.py"), project, None)


@contextmanager
def _revealing(seen: Seen | None) -> Iterator[None]:
    if seen is None:
        yield
    else:
        with mock.patch.dict(special.SPECIAL, {"builtins.reveal_shape": seen.note}):
            yield


def judge_failing(program: str) -> Verdict:
    """A program that ends in a mistake: it must be found there, and nothing before it."""
    ends = [run(program, each, lambda value: value) for each in environments(program)]
    lines = {tuple(end[1]) for end in ends if end is not None}
    if None in ends or len(lines) != 1:
        return Verdict("other", "it does not always fail at one place", program)
    passed = lines.pop()
    error = next(end for end in ends if end is not None)[0]
    found = errors_of(program)
    early = [each for each in found if each.span.line < passed[0] and each.span.line not in passed]
    if early:
        return Verdict("early", shown(early[0]), program)
    if any(each.span.line in passed for each in found):
        return Verdict("found", "", program)
    return Verdict("missed", f"line {passed[-1]}: {str(error)[:150]}", program)


def judge_running(program: str, names: Sequence[str]) -> Verdict:
    """A program that runs: nothing may be found, and every shape must cover the real ones."""
    program += "".join(f"reveal_shape({name})\n" for name in names)
    seen = Seen()
    for each in environments(program):
        end = run(program, each, seen.record)
        if end is not None:
            return Verdict("other", f"line {end[1]}: {end[0]}", program)
    found = errors_of(program, seen)
    if found:
        return Verdict("false alarm", shown(found[0]), program)
    worst = Match.EXACT
    for line, matches in seen.best.items():
        if min(matches) is Match.NO:
            real = seen.real[line][matches.index(Match.NO)]
            text = f"line {line}: is {tuple(real.shape)}, not {seen.said[line]}"
            return Verdict("wrong", text, program)
        worst = min(worst, *matches)
    return Verdict("exact" if worst is Match.EXACT else "vague", "", program)


def judge_parameters(program: str, inputs: Sequence[str]) -> Verdict:
    """A program that runs, its first tensors made parameters of a function that nobody calls: nothing may be found."""
    lines = program.splitlines()
    kept = [line for line in lines if line.partition(" = ")[0] not in inputs]
    imports = [line for line in kept if line.startswith("import ")]
    body = [f"    {line}" for line in kept if line not in imports]
    program = "\n".join([*imports, f"def program({', '.join(inputs)}):", *body, "    return 0", ""])
    found = errors_of(program)
    return Verdict("false alarm", shown(found[0]), program) if found else Verdict("exact", "", program)


def shown(finding: Diagnostic) -> str:
    """A finding in one line."""
    return f"line {finding.span.line}: {finding.code} {finding.message}"


def fits(said: str, real: list[int]) -> bool:
    """Whether the sizes that are known are the real ones, in one of what it may be."""
    options = [
        each.partition("[")[2].removesuffix("]").split(", ") if "[" in each else [each] for each in said.split(" | ")
    ]
    return any("..." in each or each == ["unknown"] or _agree(each, real) for each in options)


def _agree(sizes: list[str], real: list[int]) -> bool:
    return len(sizes) == len(real) and all(a == str(b) or not a.isdigit() for a, b in zip(sizes, real, strict=True))
