"""The worker of build rules: what requests write."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from distml.cli.worker import carry_out
from distml.diagnostics.model import Diagnostic, Edit, Fix, Span

from engine.test_declared import out_of_time

APP = "import torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n"
OUTPUTS = ("json", "text", "patch", "results", "unused")


@pytest.fixture
def app(folder: Path) -> Path:
    (folder / "app.py").write_text(APP)
    (folder / "lib.py").write_text("import torch\n")
    return folder


def check(*arguments: str) -> tuple[int, str]:
    outputs = [f"--{name}=out.{name}" for name in OUTPUTS]
    return carry_out(["--check=app.py", "--root=", "--context=app.py", "--context=lib.py", *arguments, *outputs])


def test_a_check_writes_all_that_was_asked_for(app: Path) -> None:
    assert check() == (0, "")
    (finding,) = json.loads((app / "out.json").read_text())
    assert (finding["path"], finding["line"], finding["code"]) == ("app.py", 2, "SHP101")
    text = (app / "out.text").read_text()
    assert "app.py:2:1: error[SHP101]" in text and " 2 | torch.zeros(2, 3)" in text and "checked" not in text
    assert (app / "out.patch").read_text() == ""
    assert (app / "out.unused").read_text() == "lib.py\n"


def test_sarif_is_made_from_results(app: Path) -> None:
    check()
    assert carry_out(["--results=out.results", "--sarif=out.sarif"]) == (0, "")
    (run,) = json.loads((app / "out.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["SHP101"]


def test_essences_of_files_that_were_read_are_used(app: Path) -> None:
    (app / "more.py").write_text("x = 1\n")
    (app / "app.py").write_text("import lib\n" + APP)
    for name in ("lib", "more"):
        assert carry_out([f"--essence={name}.essence", f"--check={name}.py"]) == (0, "")
    assert check("--context=more.py", "--essences=lib.essence", "--essences=more.essence") == (0, "")
    assert (app / "out.unused").read_text().split() == ["lib.py", "more.py", "more.essence"]


def test_no_findings_no_text(app: Path) -> None:
    (app / "app.py").write_text("import torch\n")
    assert check() == (0, "")
    assert (app / "out.text").read_text() == ""
    assert json.loads((app / "out.json").read_text()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--check=gone.py"], "distml: error: gone.py: No such file"),
        (["--select=XYZ"], "no rule has the code"),
        (["--nonsense"], "unrecognized argument: --nonsense"),
        (["--config=bad.toml"], "bad.toml: unknown key"),
    ],
)
def test_what_is_wrong_is_said(app: Path, arguments: list[str], message: str) -> None:
    (app / "bad.toml").write_text("[tool.distml]\nnonsense = 1\n")
    code, output = check(*arguments)
    assert code == 2
    assert message in output and output.count("\n") == 1


def test_nothing_is_written_of_what_may_be_otherwise_next_time(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distml.engine.one._interpreter", lambda: out_of_time)
    code, said = check()
    assert code == 2
    assert said.startswith("distml: error: app.py: SRC105: the check was stopped after ") and said.count("\n") == 1
    assert not (app / "out.json").exists()


def test_the_patch_of_fixes(folder: Path) -> None:
    from distml.cli.worker import _patch

    fix = Fix("mend it", (Edit(Span("b.py", 2, 1, 2, 4), "two"), Edit(Span("b.py", 3, 1, 3, 1), "three\n")))
    before = b"\xef\xbb\xbf\xc3\xa9\nTWO\n"
    patch = _patch((Diagnostic("SHP101", "no", Span("b.py", 1, 1, 1, 2), fix=fix),), {"b.py": before})
    (folder / "b.py").write_bytes(before)
    done = subprocess.run(["git", "apply", "-"], input=patch, capture_output=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "b.py").read_bytes() == b"\xef\xbb\xbf\xc3\xa9\ntwo\nthree\n"


def test_names_are_never_options(folder: Path) -> None:
    """Whatever a file is called: also as an option with its value, or as a file of arguments."""
    for name in ("-dash.py", "--json=x.py", "--config", "@more.py", "--", "-"):
        (folder / name).write_text(APP)
        assert carry_out([f"--check={name}", "--root=", "--json=out.json"]) == (0, "")
        (finding,) = json.loads((folder / "out.json").read_text())
        assert finding["path"] == name
        (folder / name).unlink()


def test_once(app: Path) -> None:
    command = [sys.executable, "-m", "distml.cli.worker", "--check=app.py", "--json=out.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    wrong = subprocess.run([*command, "--config=gone.toml"], capture_output=True, text=True, timeout=60)
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "distml: error: gone.toml: cannot be read: No such file or directory\n",
    )
