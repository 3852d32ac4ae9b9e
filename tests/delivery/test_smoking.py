"""Smoke runs before a pull request: what passed is told, what failed is not proposed, and no token is near."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from distml.autofix import command, describe, smoking
from distml.autofix.compute import compute
from distml.autofix.horovod import Distribute
from distml.autofix.proposal import Proposal, decode
from distml.cli.main import main
from distml.git.clone import Git
from distml.smoke.model import Options, Report, SmokeError, Verdict

from delivery.pages import ROOT
from delivery.repositories import git
from delivery.workshop import BASE, Workshop

pytestmark = pytest.mark.requires("git")
TRAINING = (ROOT / "examples" / "training" / "torch_loop.py").read_text("utf-8")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    made = Workshop(tmp_path)
    made.commit(BASE, {"train.py": TRAINING, "a.py": "x = 1\n"})
    git(made.clone, "pull", "-q")
    return made


def proposed(shop: Workshop) -> tuple[Git, Proposal]:
    cloned = Git(str(shop.clone))
    return cloned, compute(cloned, shop.remote().look().base, [Distribute(["."])])


def answering(status: str, text: str) -> Callable[[str, str, dict[str, str]], Report]:
    def run(script: str, after: str, _modules: dict[str, str]) -> Report:
        assert Path(script).name == "train.py"
        assert "hvd.init()" in after
        verdict = Verdict("weights", "passed" if status == "passed" else "failed", text)
        return Report("train.py", "horovodrun", 2, "gloo", 8, 1.0, (verdict,))

    return run


def test_what_passed_is_told(shop: Workshop) -> None:
    cloned, proposal = proposed(shop)
    told = smoking.smoked(cloned, proposal, answering("passed", "equal"))
    assert [change.path for change in told.changes] == ["train.py"]
    assert "- smoke run: **passed**. 2 processes, horovodrun: weights" in describe.body(told, "b")


def test_what_failed_is_not_proposed(shop: Workshop) -> None:
    cloned, proposal = proposed(shop)
    told = smoking.smoked(cloned, proposal, answering("failed", "rank 1 holds\nother weights"))
    assert told.changes == ()
    (left,) = told.left
    assert (left.path, left.why) == (
        "train.py",
        "not made distributed: the smoke run failed: rank 1 holds\nother weights",
    )


def test_what_could_not_be_run_is_told(shop: Workshop) -> None:
    def run(*_: object) -> Report:
        raise SmokeError("no horovodrun in this Python")

    cloned, proposal = proposed(shop)
    told = smoking.smoked(cloned, proposal, run)
    assert [each.verdict for each in told.smoked] == ["not run"]
    assert "no horovodrun in this Python" in describe.body(told, "b")


def test_only_what_is_proposed_is_run(shop: Workshop) -> None:
    cloned, proposal = proposed(shop)
    (shop.clone / "train.py").write_text("raise SystemExit\n")
    told = smoking.smoked(cloned, proposal, answering("failed", "never asked"))
    assert [(each.verdict, each.said) for each in told.smoked] == [
        ("not run", "the working tree has another version of it")
    ]


def test_no_token_is_near(shop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str | None] = []

    def smoke_with(python: str, _options: Options) -> smoking.Run:
        assert python == "some-python"
        seen.extend(os.environ.get(name) for name in command.TOKENS)
        return answering("passed", "equal")

    monkeypatch.setattr(smoking, "smoke_with", smoke_with)
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")
    monkeypatch.chdir(shop.clone)
    asked = ["autofix", "--repo", "o/r", "--horovod", ".", "--smoke", "some-python", "--compute", "../fixes.json"]
    assert main(asked) == 0
    assert seen == [None, None]
    assert "running the rewritten scripts with some-python" in capsys.readouterr().err
    assert decode((shop.clone.parent / "fixes.json").read_text()).smoked[0].verdict == "passed"
