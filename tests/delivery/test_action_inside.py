"""The Action's parts that talk to GitHub or make a patch, without its process: a fake stands in for GitHub."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from delivery.fake_github import serve
from delivery.repositories import git
from delivery.runner import commands, outputs
from delivery.workshop import BASE, Workshop

pytestmark = pytest.mark.requires("git", "github_action_toolkit")
BROKEN = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
MENDABLE = "import torch\n\nsize = torch.zeros(8 / 2)\n"
WARNED = "import torch\n\nloss = torch.nn.functional.mse_loss(torch.zeros(8, 1), torch.zeros(8))\n"
ODD = 'a"b\n--- evil\tü.py'


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    monkeypatch.chdir(folder)
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (tmp_path / name).touch()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    for name in ("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_TOKEN", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def committed(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "x")


@pytest.mark.parametrize(
    ("fail_on", "errors", "warnings"), [("error", 1, 0), ("warning", 1, 1), ("never", 0, 0)], ids=["e", "w", "n"]
)
def test_what_fails(checkout: Path, fail_on: str, errors: int, warnings: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.action import run

    committed(checkout, **{"bad.py": BROKEN, "warned.py": WARNED})
    monkeypatch.setenv("INPUT_FAIL_ON", fail_on)
    monkeypatch.setenv("INPUT_PATHS", "bad.py")
    assert run.main() == errors
    monkeypatch.setenv("INPUT_PATHS", "warned.py")
    assert run.main() == warnings


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("FAIL_ON", "sometimes", "fail-on must be one of error, warning, never, not 'sometimes'"),
        ("CHANGED_ONLY", "maybe", "changed-only must be true or false"),
        ("PATHS", "nowhere", "no such file or folder: nowhere"),
        ("FAMILIES", "SHP; touch pwned", "families holds 'SHP;'"),
        ("FAMILIES", "XYZ", "no rule has the code"),
        ("SARIF_FILE", "../../outside.sarif", "outside of"),
        ("SARIF_FILE", "a\nb", "sarif-file must be one path"),
    ],
)
def test_wrong_inputs(
    checkout: Path,
    name: str,
    value: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from distml.action import run

    committed(checkout, **{"a.py": BROKEN})
    monkeypatch.setenv(f"INPUT_{name}", value)
    assert run.main() == 2
    found, _ = commands(capsys.readouterr().out)
    assert said in found[-1].message


@pytest.mark.parametrize(("families", "code"), [("SHP", "SHP101"), ("SPM", "SPM101"), ("SHP503", "")])
def test_families(
    checkout: Path, families: str, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distml.action import run

    ranks = "import torch.distributed as dist\n\nif dist.get_rank() == 0:\n    dist.barrier()\n"
    committed(checkout, **{"a.py": BROKEN, "b.py": ranks})
    monkeypatch.setenv("INPUT_FAMILIES", families)
    assert run.main() == int(bool(code))
    found, _ = commands(capsys.readouterr().out)
    titles = [each.properties["title"] for each in found if each.name == "error"]
    assert [code in title for title in titles] == [True] * bool(code)


@pytest.mark.parametrize("adopted", ["baseline", "since"])
def test_old_code_does_not_fail(checkout: Path, adopted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.action import run
    from distml.cli.main import main

    committed(checkout, **{"a.py": BROKEN})
    assert main(["check", "--baseline", "old.json", "--write-baseline"]) == 0
    monkeypatch.setenv(f"INPUT_{adopted.upper()}", {"baseline": "old.json", "since": "HEAD"}[adopted])
    assert run.main() == 0
    (checkout / "b.py").write_text(BROKEN)
    assert run.main() == 1
    monkeypatch.setenv(f"INPUT_{adopted.upper()}", "--absent")
    assert run.main() == 2


def test_a_patch_of_safe_fixes(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.action import run

    committed(checkout, **{"a.py": MENDABLE, ODD: BROKEN + MENDABLE})
    monkeypatch.setenv("INPUT_FIX", "true")
    assert run.main() == 1
    patch = outputs(checkout.parent / "GITHUB_OUTPUT")["patch"]
    assert Path(patch).parents[1] == checkout.parent
    assert git(checkout, "diff") == "", "the checkout is as it was"
    subprocess.run(["git", "apply", patch], cwd=checkout, check=True)
    assert (checkout / "a.py").read_text() == MENDABLE.replace("/", "//")
    assert (checkout / ODD).read_text() == BROKEN + MENDABLE.replace("/", "//")
    assert "+size = torch.zeros(8 // 2)" in (checkout.parent / "GITHUB_STEP_SUMMARY").read_text()


def test_no_patch_without_a_commit(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distml.action import run

    (checkout / "a.py").write_text(BROKEN)
    monkeypatch.setenv("INPUT_FIX", "true")
    assert run.main() == 1
    found, _ = commands(capsys.readouterr().out)
    assert [each.name for each in found if "no patch" in each.message] == ["warning"]


def on_a_pull_request(checkout: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    path = checkout.parent / "event.json"
    path.write_text(json.dumps({"pull_request": {"number": 1, "base": {"sha": "1" * 40}}}))
    for name, value in {
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_API_URL": address,
        "GITHUB_TOKEN": "ghs_secret",
    }.items():
        monkeypatch.setenv(name, value)


def test_a_comment_is_written_and_then_kept_up_to_date(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.action import run

    shop = Workshop(checkout.parent)
    shop.run()
    committed(checkout, **{"a.py": BROKEN})
    monkeypatch.setenv("INPUT_COMMENT", "true")
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        on_a_pull_request(checkout, monkeypatch, address)
        assert run.main() == 1
        (comment,) = shop.forge.comments
        assert "| `a.py:3:5` | error SHP101 matmul-mismatch |" in comment["body"]
        (checkout / "a.py").write_text("import torch\n")
        assert run.main() == 0
    (comment,) = shop.forge.comments
    assert "No problems found" in comment["body"]


def test_a_comment_that_may_not_be_written_fails_nothing(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distml.action import run

    def refuse(*_: Any) -> tuple[int, Any]:
        return 403, {"message": "Resource not accessible by integration ghs_secret"}

    committed(checkout, **{"a.py": "import torch\n"})
    monkeypatch.setenv("INPUT_COMMENT", "true")
    with serve(refuse) as address:
        on_a_pull_request(checkout, monkeypatch, address)
        assert run.main() == 0
    out = capsys.readouterr().out
    assert "comment: not written" in out
    assert "ghs_secret" not in out


def test_github_says_what_changed_where_git_cannot(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distml.action import run

    shop = Workshop(checkout.parent)
    shop.run()
    committed(checkout, **{"a.py": BROKEN, "b.py": BROKEN})
    monkeypatch.setenv("INPUT_CHANGED_ONLY", "true")
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        on_a_pull_request(checkout, monkeypatch, address)
        assert run.main() == 1
    found, _ = commands(capsys.readouterr().out)
    assert [each.properties["file"] for each in found if each.name == "error"] == ["a.py"]
    assert shop.tip(BASE)
