"""`distml migrate` and `distml branches` as commands: exit codes, JSON, one line for wrong use, files written back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distml.cli.main import main

GOOD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        y = self.conv(x)  # features
        if y.dim() == 7:
            y = y.flatten(1)
        assert y.shape[-1] > 0
        return y
"""
BAD = GOOD.replace("return y", "return nn.functional.linear(y, torch.ones(4, 5)) + torch.ones(2, 3) @ torch.ones(4, 5)")


@pytest.fixture(autouse=True)
def program(folder: Path) -> Path:
    path = folder / "net.py"
    path.write_text(GOOD)
    return path


def distml(*arguments: str) -> int:
    return main(list(arguments))


def test_migrate_says_what_the_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("migrate", "net.py::Net") == 0
    out = capsys.readouterr().out
    assert out.startswith("net.py:10: Net.forward: a static migration\n")
    assert '    x: Float[Tensor, "b 3 h w"]\n    where h >= 3, w >= 3\n' in out


def test_migrate_as_json_has_the_agreed_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("migrate", "net.py::Net", "--format", "json", "--where", "x.shape[0] > 5 and len(x.shape) == 4") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found.pop("seconds") >= 0
    assert found == {
        "path": "net.py",
        "function": "Net.forward",
        "line": 10,
        "verdict": "static",
        "ranks": {"x": [4]},
        "annotations": {"x": 'Float[Tensor, "b 3 h w"]'},
        "model": {"x": [6, 3, 3, 3]},
        "dyn_only": [],
        "conflicts": [],
        "constraints": ["b >= 6", "h >= 3", "w >= 3"],
    }


def test_what_has_no_migration_exits_with_1(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(BAD)
    assert distml("migrate", "net.py::Net", "--format", "json") == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "empty"
    assert {"message", "path", "line"} == set(found["conflicts"][0])
    assert found["conflicts"][0]["line"] == 15


def test_branches_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("branches", "net.py", "--format", "json") == 1
    found = json.loads(capsys.readouterr().out)
    assert [(d["line"], d["kind"], d["verdict"]) for d in found] == [(12, "if", "never"), (14, "assert", "always")]
    assert set(found[0]) == {"path", "line", "column", "kind", "verdict", "condition", "related"}


def test_no_dead_branch_exits_with_0(program: Path) -> None:
    program.write_text("import torch\n\n\ndef f(x):\n    return x.mean(0) if x.shape[0] > 3 else x.sum(0)\n")
    assert distml("branches", "net.py::f") == 0
    assert distml("branches", "net.py::f", "--where", "x.shape[0] == 4") == 1


def test_annotations_are_written_once(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("migrate", "net.py::Net", "--diff") == 0
    patch = capsys.readouterr().out
    assert '+    def forward(self, x: Float[torch.Tensor, "b 3 h w"]):' in patch
    assert program.read_text() == GOOD
    assert distml("migrate", "net.py::Net", "--write") == 0
    written = program.read_text()
    assert "from jaxtyping import Float" in written
    assert "# features" in written
    assert distml("migrate", "net.py::Net", "--write") == 0
    assert program.read_text() == written
    assert distml("check", "net.py", "--no-cache") == 0


def test_dead_arms_are_removed(program: Path) -> None:
    assert distml("branches", "net.py::Net", "--write") == 1
    written = program.read_text()
    assert "flatten" not in written
    assert "assert" not in written
    assert "# features" in written
    assert distml("branches", "net.py::Net") == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["absent.py::Net"], "no such file: absent.py"),
        (["."], ". is a folder: name one file"),
        (["net.py::Nat"], "has no function or class 'Nat'"),
        (["net.py::Net.run"], "has no method 'run'"),
        (["net.py::Net", "--where", "y.shape[0] > 1"], "has no input 'y'"),
        (["net.py::Net", "--where", "x.shape[0] >"], "--where"),
        (["net.py::Net", "--where", " "], "--where is empty"),
        (["broken.py"], "broken.py:1"),
        ([], "give either FILE[::NAME] or --trace"),
    ],
)
@pytest.mark.parametrize("command", ["migrate", "branches"])
def test_wrong_use_is_one_line_and_exit_code_2(
    folder: Path, command: str, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    assert distml(command, *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert says in captured.err
