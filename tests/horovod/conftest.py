"""Literate cases of rewriting: a program, what it becomes, and what is remarked.

A file `*.md` below this folder has sections `## name`, each with a ```py block, a ```py rewritten block (absent where
nothing changes), and a ```remarks block with a line for each warning and refusal (absent where there are none). Options
stand behind `py`: ```py backend=ddp scale_lr=none. `--update-cases` writes the expected blocks anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.project import Project
from distml.training.program import Program

_SECTION = re.compile(r"^## (?P<name>.+)\n(?P<body>(?:.*\n)*?)(?=^## |\Z)", re.MULTILINE)
_BLOCK = re.compile(
    r"^```(?P<kind>py rewritten|py|remarks)(?P<options>[^\n]*)\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL
)


class Answer(NamedTuple):
    """What a program becomes, and the remarks on it."""

    rewritten: str
    remarks: str


def answer(program: str, options: Options, path: Path) -> Answer:
    """Rewrite `program` as the file `path`, which is not written."""
    project = Project(str(path.parent), overlay={str(path): program.encode()})
    source = project.open(str(path))
    outcome = rewrite(Program([source], project), options, [source.location], {source.location: program})
    changed, plan = [file.source for file in outcome.files.values()], outcome.plan
    lines = [
        f"{plan.span(each.node).line}: {each.code} {each.message}{f' ({each.instead})' if each.instead else ''}"
        for each in (*plan.refusals, *plan.warnings)
    ]
    return Answer(changed[0] if changed else "", "".join(f"{line}\n" for line in lines))


def options_of(text: str) -> Options:
    """The options behind the ```py of a case."""
    given: dict[str, Any] = dict(part.split("=", 1) for part in text.split())
    if "warmup" in given:
        given["warmup"] = int(given["warmup"])
    return Options(**given)


class Case(pytest.Item):
    """One section of a file of cases."""

    def __init__(self, *, body: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.body = body

    def runtest(self) -> None:
        blocks = {found["kind"]: found for found in _BLOCK.finditer(self.body)}
        program = blocks["py"]["text"]
        found = answer(program, options_of(blocks["py"]["options"]), self.path.with_suffix(".py"))
        expected = Answer(*(blocks[kind]["text"] if kind in blocks else "" for kind in ("py rewritten", "remarks")))
        if self.config.getoption("--update-cases") and found != expected:
            self._update(blocks["py"].group(), found)
            return
        assert found.remarks == expected.remarks
        assert found.rewritten == expected.rewritten

    def _update(self, asked: str, found: Answer) -> None:
        text = "".join([self.body[: self.body.index(asked)], asked])
        text += f"\n```py rewritten\n{found.rewritten}```\n" if found.rewritten else ""
        text += f"\n```remarks\n{found.remarks}```\n" if found.remarks else ""
        before = self.path.read_text(encoding="utf-8")
        self.path.write_text(before.replace(self.body, text + "\n").rstrip("\n") + "\n", encoding="utf-8")

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"case: {self.name}"


class Cases(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[Case]:
        for found in _SECTION.finditer(self.path.read_text(encoding="utf-8")):
            yield Case.from_parent(self, name=found["name"], body=found["body"])


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> Cases | None:
    """Collect `*.md` here."""
    return Cases.from_parent(parent, path=file_path) if file_path.suffix == ".md" else None
