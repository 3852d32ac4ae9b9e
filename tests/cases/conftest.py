"""Collects the cases: every `py` block in a Markdown file of this folder is a test.

Expectations are comments on the line they are about:

    x @ y  # error: [SHP101] "part of the message"
    loss(a, b)  # warning: [SHP503]
    reveal_shape(x)  # revealed: Tensor[b, 128]

A block that begins with a file name (```py net.py) is another file of the same project. `--update-cases` writes the
comments anew from what distml says.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from distml.diagnostics.registry import rule
from distml.source.project import Project
from distml.source.reading import UnreadableError
from distml.source.suppressions import apply

from cases.expectations import Said, annotate, compare, expectations

BLOCK = re.compile(r"^```py(?:[ \t]+(?P<name>[\w./-]+))?[ \t]*\n(?P<program>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".md" and file_path.name != "README.md":
        return CaseFile.from_parent(parent, path=file_path)
    return None


class CaseFile(pytest.File):
    """One Markdown file."""

    def collect(self) -> Iterator[pytest.Item]:
        blocks = list(BLOCK.finditer(self.path.read_text("utf-8")))
        files = {block["name"]: block["program"] for block in blocks if block["name"]}
        programs = [block["program"] for block in blocks if not block["name"]]
        for number, program in enumerate(programs, 1):
            name = self.path.stem if len(programs) == 1 else f"{self.path.stem}-{number}"
            yield CaseItem.from_parent(self, name=name, program=program, files=files)


class CaseItem(pytest.Item):
    """One program with its expectations."""

    def __init__(self, *, program: str, files: dict[str, str], **rest: Any) -> None:
        super().__init__(**rest)
        self.program = program
        self.files = files
        self.add_marker(pytest.mark.requires("distml.interp.check"))

    def runtest(self) -> None:
        folder = self.config._tmp_path_factory.mktemp("case")  # type: ignore[attr-defined]
        said = check({**self.files, "case.py": self.program}, folder)
        if self.config.getoption("--update-cases"):
            self._update(said)
            return
        problems = compare(expectations(self.program), said)
        if problems:
            raise CaseFailure("\n".join(problems))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailure):
            numbered = (f"{number:4} {line}" for number, line in enumerate(self.program.splitlines(), 1))
            return "\n".join([*numbered, "", str(excinfo.value)])
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name

    def _update(self, said: list[Said]) -> None:
        text = self.path.read_text("utf-8")
        updated = annotate(self.program, said)
        self.path.write_text(text.replace(f"\n{self.program}```", f"\n{updated}```", 1), "utf-8")


class CaseFailure(Exception):
    """Expectations that were not met."""


def check(files: dict[str, str], folder: Path) -> list[Said]:
    """What distml says about `case.py` among `files`."""
    for name, program in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(program, "utf-8")
    (folder / "pyproject.toml").touch()
    project = Project(str(folder))
    source = project.open("case.py")
    try:
        checked = import_module("distml.interp.check").check_file(source, project, None)
    except UnreadableError as error:
        findings, revealed = (error.diagnostic,), ()
    else:
        applied = apply(source, (*checked.diagnostics, *_ranks(source, project)))
        findings, revealed = (*applied.kept, *applied.unused, *_choreographies(source)), checked.revealed
    said = [
        Said(each.span.line, rule(each.code).severity.value, each.code, each.message.splitlines()[0])
        for each in findings
        if each.span.path == source.path
    ]
    return sorted({*said, *(Said(each.span.line, "revealed", "", each.text) for each in revealed)})


def _choreographies(source: Any) -> tuple[Any, ...]:
    if "distml.choreo" not in source.text:
        return ()
    return import_module("distml.choreo.check").check_source(source)  # type: ignore[no-any-return]


def _ranks(source: Any, project: Project) -> tuple[Any, ...]:
    if not import_module("distml.source.reach").may_communicate(source, project):
        return ()
    check_ranks = import_module("distml.spmd.check").check_source
    return check_ranks(source, project, time.process_time() + 20)  # type: ignore[no-any-return]
