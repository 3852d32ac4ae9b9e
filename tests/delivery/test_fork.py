"""Pull requests from a fork: the branch lives there, the base here; the rest is as it is without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from distml.cli.main import main
from distml.git.clone import Git
from distml.github.rest import Answer

from delivery.fake_github import serve
from delivery.repositories import git
from delivery.workshop import BAD, BASE, BRANCH, Workshop

pytestmark = pytest.mark.requires("git")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path, fork="p")


def test_from_opening_to_closing(shop: Workshop) -> None:
    assert shop.run().result == "created"
    (pull,) = shop.forge.open
    assert (pull["head"], pull["base"]) == (f"p:{BRANCH}", BASE)
    assert shop.files(BRANCH)["a.py"] == "x = 1\n"
    assert shop.run().result == "unchanged"
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    assert shop.run().result == "updated"
    assert git(shop.home, "log", "-1", "--format=%P", BRANCH) == shop.tip(BASE)
    shop.commit(BASE, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    assert shop.run().result == "closed"
    assert shop.tip() is None
    assert git(shop.bare, "for-each-ref", "--format=%(refname)") == f"refs/heads/{BASE}", "here nothing was written"


def test_a_branch_of_that_name_here_is_another(shop: Workshop) -> None:
    git(shop.bare, "update-ref", f"refs/heads/{BRANCH}", BASE)
    theirs = git(shop.bare, "rev-parse", BRANCH)
    assert shop.run().result == "created"
    assert git(shop.bare, "rev-parse", BRANCH) == theirs


def test_a_person_on_the_branch_is_respected(shop: Workshop) -> None:
    shop.run()
    theirs = shop.commit(BRANCH, {"c.py": "mine\n"})
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    assert shop.run().result == "kept"
    assert shop.tip() == theirs


def test_a_person_pushes_meanwhile(shop: Workshop) -> None:
    shop.run()
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    assert shop.run(meanwhile=lambda: shop.commit(BRANCH, {"c.py": "mine\n"})).result == "kept"
    assert "c.py" in shop.files(BRANCH)


@pytest.mark.parametrize("carried_out", [True, False], ids=["after", "before"])
def test_the_answer_to_opening_is_lost(shop: Workshop, carried_out: bool) -> None:
    lost = [True]

    def fault(method: str, _address: str, carry_out: Callable[[], Answer]) -> Answer:
        if method != "POST" or not lost:
            return carry_out()
        lost.pop()
        if carried_out:
            carry_out()
        return Answer(0, {}, b"")

    shop.api.fault = fault
    assert shop.run().result == "created"
    assert len(shop.forge.pulls) == 1


def test_the_command(shop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(shop.clone)
    monkeypatch.setenv("GITHUB_TOKEN", "t")
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        asked = ["autofix", "--repo", "o/r", "--api-url", address, "--fork", "p/r"]
        assert main(asked) == 0
        assert main([*asked, "--fork-remote", "nowhere"]) == 2
    out, errors = capsys.readouterr()
    assert out == "created: opened pull request 1\n"
    assert "nowhere" in errors
    assert shop.forge.open[0]["head"] == f"p:{BRANCH}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fork", "p"], "--fork must be OWNER/NAME, not 'p'"),
        (["--fork", "p/r", "--fork-remote=-x"], "--fork-remote: no remote can be called '-x'"),
    ],
)
def test_wrong_use(
    shop: Workshop,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(shop.clone)
    assert main(["autofix", "--repo", "o/r", "--dry-run", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_the_fork_must_be_the_one_that_is_named(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(shop.clone, "remote", "set-url", "fork", "https://github.com/evil/r.git")
    monkeypatch.chdir(shop.clone)
    monkeypatch.setenv("GITHUB_TOKEN", "t")
    monkeypatch.setattr(Git, "run", refuse_network(Git.run))
    assert main(["autofix", "--repo", "o/r", "--fork", "p/r"]) == 2
    assert "the remote fork of this clone is not p/r" in capsys.readouterr().err


def refuse_network(run: Callable[..., bytes]) -> Callable[..., bytes]:
    def local(self: Git, *arguments: str, **more: object) -> bytes:
        assert "fork" not in arguments or arguments[0] == "remote"
        return run(self, *arguments, **more)

    return local
