"""Data types of choreographies, by mypy."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from distml.choreo import datatypes
from distml.choreo.check import check_source
from distml.diagnostics.model import Diagnostic
from distml.source.file import SourceFile

pytestmark = pytest.mark.requires("mypy")

HEAD = """from enum import Enum
from distml.choreo import *
class Ann(Role): ...
class Bob(Role): ...
"""


def found(body: str, path: str = "absent/case.py") -> list[tuple[int, str, str]]:
    return [(each.span.line, each.code, each.message) for each in findings(body, path)]


def findings(body: str, path: str = "absent/case.py") -> tuple[Diagnostic, ...]:
    return check_source(SourceFile(path, path, (HEAD + body).encode(), module="", is_package=False))


WRONG = "def f(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> At[str, Bob]:\n    return ch.com(n)\n"


def test_a_wrong_type_is_found_at_its_place() -> None:
    (each,) = findings(WRONG)
    assert each.code == "CHO501"
    assert each.message == 'Incompatible return value type (got "int", expected "str") [return-value]'
    assert tuple(each.span) == ("absent/case.py", 6, 12, 6, 21)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("def f(n: At[list[int], Ann], m: At[int, Bob]) -> At[int, Ann]:\n    return n.size\n", "[attr-defined]"),
        ("def f(n: At[int, Ann], m: At[int, Bob]) -> At[int, Ann]:\n    return n + 'a'\n", "[operator]"),
        ("def f(n: At[int, Ann], m: At[int, Bob]) -> At[int, Ann]:\n    return n.bit_length(1)\n", "[call-arg]"),
        ("def f(n: At[int, Ann], m: At[int, Bob]) -> None:\n    x: At[str, Ann] = n\n", "[assignment]"),
    ],
)
def test_what_mypy_says(body: str, says: str) -> None:
    ((line, code, message),) = found(body)
    assert (line, code) == (6, "CHO501")
    assert message.endswith(says)


@pytest.mark.parametrize(
    "body",
    [
        WRONG.replace("ch.com(n)", "ch.com(str(n))"),
        WRONG.replace("ch.com(n)", "ch.com(n)  # type: ignore"),
        # A module that is not looked into.
        "import absent_library as lib\n" + WRONG.replace("ch.com(n)", "ch.com(lib.text(n))"),
        # An interface, and what stands for it.
        """class F(Ch2[Ann, Bob]):
    def call(self, n: At[int, Ann]) -> At[int, Ann]: ...
class G(F[Ann, Bob], Ch2[Ann, Bob]):
    def call(self, n: At[int, Ann]) -> At[int, Ann]:
        return n
""",
        # A program of mypy's own reach without choreographies.
        "x: int = 'distml.choreo'\n",
    ],
)
def test_what_is_no_error(body: str) -> None:
    assert found(body) == []


def test_roles_come_first() -> None:
    body = "def f(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> At[str, Bob]:\n    return n\n"
    assert [code for _, code, _ in found(body)] == ["CHO103"]


def test_without_mypy_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datatypes, "find_spec", lambda name: None)
    assert found(WRONG) == []


def test_nothing_is_run_or_written_beside_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "case.py").write_text(HEAD + "open('ran', 'w')\n" + WRONG)
    (folder / "mypy.ini").write_text("[mypy]\nplugins = spy.py\nignore_errors = True\n")
    (folder / "spy.py").write_text("open('ran', 'w')\n")
    before = sorted(folder.rglob("*"))
    assert [line for line, _, _ in found("open('ran', 'w')\n" + WRONG, "case.py")] == [7]
    assert sorted(folder.rglob("*")) == before


def test_a_folder_that_cannot_be_written_costs_time_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv("MYPY_CACHE_DIR", str(folder / "file"))
    assert len(found(WRONG)) == 1


def test_files_after_the_first_are_fast() -> None:
    findings(WRONG)
    begin = time.process_time()
    for number in range(3):
        findings(WRONG.replace("def f", f"def f{number}"))
    assert time.process_time() - begin < 3 * 0.3


def test_a_failure_of_mypy_is_contained(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise AssertionError("mypy is broken")

    monkeypatch.setattr("mypy.build.build", broken)
    assert found(WRONG) == []


SPY = 'open({told!r}, "a").write("ran")\ndef plugin(version):\n    return int\n'
SHADOWS = ("types.py", "typing.py", "enum.py", "builtins.py", "abc.py", "collections/__init__.py", "distml/__init__.py")
SETTINGS = {
    "mypy.ini": "[mypy]\nplugins = evil.py\nignore_errors = True\n",
    ".mypy.ini": "[mypy]\nplugins = evil\nmypy_path = .\n",
    "setup.cfg": "[mypy]\nplugins = evil.py\nfollow_imports = normal\n",
    "pyproject.toml": '[tool.mypy]\nplugins = ["evil.py"]\nignore_errors = true\ncustom_typeshed_dir = "."\n',
}


def test_the_checked_folder_is_nothing_to_mypy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its modules stand for those of the standard library, nor is anything that it configures heeded or run."""
    monkeypatch.delitem(sys.modules, "evil", raising=False)
    for name in SHADOWS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("def broken(:\n")
    (folder / "evil.py").write_text(SPY.format(told=str(folder / "told")))
    for name, text in SETTINGS.items():
        (folder / name).write_text(text)
    monkeypatch.setenv("MYPYPATH", str(folder))
    for path in ("case.py", "types.py", str(folder / "typing.py")):
        Path(path).write_text(HEAD + WRONG)
        assert found(WRONG, path) == [
            (6, "CHO501", 'Incompatible return value type (got "int", expected "str") [return-value]')
        ]
        assert found("# mypy: plugins=evil.py\n" + WRONG, path)[-1][1] == "CHO501"
    assert not (folder / "told").exists()
