"""A comment is called useless only by a run that checked every file that may need it."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.results import FileResult, Report
from distml.engine.run import run

from engine.fakes import fake

COMMENT = "quiet  # distml: ignore[SHP102]\n"


def fixable(report: Report) -> list[tuple[str, bool]]:
    return [(each.span.path, each.fix is not None) for each in report.diagnostics if each.code == "SRC301"]


def check(*paths: str) -> list[tuple[str, bool]]:
    return fixable(run(paths, Config(jobs=0), checker=fake))


def test_a_file_that_nothing_imports(folder: Path) -> None:
    (folder / "a.py").write_text(f"import torch\n{COMMENT}")
    (folder / "b.py").write_text("import torch, c\n")
    assert check("a.py") == check(".") == [("a.py", True)]


@pytest.mark.parametrize(
    "statement", ["import a", "from a import *", "from . import a", "import pkg.a", "import os, a"]
)
def test_a_file_that_another_imports(folder: Path, statement: str) -> None:
    (folder / "a.py").write_text(f"import torch\n{COMMENT}")
    (folder / "b.py").write_text(f"{statement}\n")
    assert check("a.py") == []
    assert check("a.py", "b.py") == [("a.py", True)]


def test_imports_through_a_package(folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text("from .a import *\n")
    (folder / "pkg" / "a.py").write_text(f"import torch\n{COMMENT}")
    assert check("pkg") == [("pkg/a.py", True)]
    (folder / "use.py").write_text("import pkg\n")
    assert check("pkg") == []
    assert check(".") == [("pkg/a.py", True)]


def test_a_comment_that_another_file_needs_is_not_even_a_finding(folder: Path) -> None:
    (folder / "a.py").write_text(f"import torch\n{COMMENT}")
    (folder / "b.py").write_text("import torch\nimport a\n# reveal a\n")
    assert check("a.py", "b.py") == check("a.py") == []


def test_a_check_that_was_cut_off_settles_nothing(folder: Path) -> None:
    (folder / "a.py").write_text(f"import torch\n{COMMENT}")
    (folder / "b.py").write_text("import torch\ngave-up\n")
    assert check("a.py") == [("a.py", True)]
    assert check("a.py", "b.py") == []


def test_remembered_results_keep_the_fix(folder: Path) -> None:
    class Memory(dict[str, FileResult]):
        def put(self, path: str, result: FileResult) -> None:
            self[path] = result

        def trace(self, *_: object) -> tuple[str, ...]:
            return ()

    (folder / "a.py").write_text(f"import torch\n{COMMENT}")
    memory = Memory()
    first = run(["a.py"], Config(jobs=0), checker=fake, cache=memory)
    (folder / "b.py").write_text("import a\n")
    again = run(["a.py"], Config(jobs=0), checker=fake, cache=memory)
    assert again.cached == 1
    assert (fixable(first), fixable(again)) == ([("a.py", True)], [])


def test_a_name_that_is_no_code_needs_no_other_file(folder: Path) -> None:
    (folder / "a.py").write_text("import torch\nquiet  # distml: ignore[SHP102, shapes]\n")
    (folder / "b.py").write_text("import a\n")
    (finding,) = run(["a.py"], Config(jobs=0), checker=fake).diagnostics
    assert (finding.code, finding.message) == ("SRC302", "shapes is not a code: this comment suppresses nothing")
    assert finding.fix is not None
    assert [edit.replacement for edit in finding.fix.edits] == ["SHP102"]
