"""Commits that GitHub signs: the same branch, the same care for the work of others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from distml.autofix.signing import SigningError
from distml.cli.main import main
from distml.github.rest import Answer, ApiError

from delivery.fake_github import serve
from delivery.repositories import git
from delivery.workshop import BAD, BASE, BRANCH, Workshop

pytestmark = pytest.mark.requires("git")


@pytest.fixture(params=["", "p"], ids=["own", "fork"])
def shop(tmp_path: Path, request: pytest.FixtureRequest) -> Workshop:
    return Workshop(tmp_path, fork=request.param)


def signed(shop: Workshop) -> bool:
    head, _, _ = git(shop.home, "cat-file", "commit", BRANCH).partition("\n\n")
    return "\ngpgsig " in head and "\ncommitter GitHub <noreply@github.com> " in head


def test_from_opening_to_closing(shop: Workshop) -> None:
    assert shop.run(sign=True).result == "created"
    assert signed(shop)
    assert shop.files(BRANCH)["a.py"] == "x = 1\n"
    assert git(shop.home, "log", "-1", "--format=%P", BRANCH) == shop.tip(BASE)
    tip = shop.tip()
    assert shop.run(sign=True).result == "unchanged"
    assert shop.tip() == tip
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    assert shop.run(sign=True).result == "updated"
    assert signed(shop)
    assert git(shop.home, "rev-list", "--count", f"{shop.tip(BASE)}..{BRANCH}") == "1"
    shop.commit(BASE, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    assert shop.run(sign=True).result == "closed"
    assert shop.tip() is None


def test_files_in_folders_keep_their_modes(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    blob = git(shop.bare, "hash-object", "-w", "--stdin", data=f"x = 1{BAD}\n")
    inner = git(shop.bare, "mktree", data=f"100755 blob {blob}\trün.py\n100644 blob {blob}\tz.txt\n")
    tree = git(shop.bare, "mktree", data=f"040000 tree {inner}\ta folder\n")
    git(shop.bare, "update-ref", f"refs/heads/{BASE}", git(shop.bare, "commit-tree", tree, "-p", BASE, data="x"))
    assert shop.run(sign=True).result == "created"
    listed = git(shop.bare, "-c", "core.quotePath=false", "ls-tree", "-r", BRANCH).splitlines()
    assert [(row.split()[0], row.partition("\t")[2]) for row in listed] == [
        ("100755", "a folder/rün.py"),
        ("100644", "a folder/z.txt"),
    ]
    assert git(shop.bare, "diff", "--name-only", BASE, BRANCH, "--", "*.txt") == ""


def test_an_unsigned_commit_is_replaced_by_a_signed_one_and_stays_signed(shop: Workshop) -> None:
    shop.run()
    assert not signed(shop)
    assert shop.run(sign=True).result == "updated"
    assert signed(shop)
    assert shop.run().result == "unchanged"
    assert signed(shop)


def test_a_person_on_the_branch_is_respected(shop: Workshop) -> None:
    shop.run(sign=True)
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    theirs: list[str] = []
    outcome = shop.run(sign=True, meanwhile=lambda: theirs.append(shop.commit(BRANCH, {"c.py": "mine\n"})))
    assert outcome.result == "kept"
    assert [shop.tip()] == theirs
    assert shop.run(sign=True).result == "kept"


def test_an_amended_commit_is_a_persons(shop: Workshop) -> None:
    shop.run(sign=True)
    theirs = shop.commit(BRANCH, {"c.py": "mine\n"}, amend=True)
    assert shop.run(sign=True).result == "kept"
    assert shop.tip() == theirs


def test_a_commit_that_github_signed_for_a_person_is_theirs(shop: Workshop) -> None:
    """Somebody changed a file in the browser, over our commit with our message."""
    shop.run(sign=True)
    message = git(shop.home, "log", "-1", "--format=%B", BRANCH)
    tree = git(shop.home, "rev-parse", f"{BRANCH}~^{{tree}}")
    body = {"message": message, "tree": tree, "parents": [shop.tip()]}
    status, said = shop.forge.handle("POST", f"/repos/{shop.fork or 'o'}/r/git/commits", body)
    assert status == 201
    git(shop.home, "update-ref", f"refs/heads/{BRANCH}", said["sha"])
    assert shop.run(sign=True).result == "kept"


def test_github_does_not_sign_for_the_token_of_a_person(shop: Workshop) -> None:
    shop.forge.signs = False
    with pytest.raises(SigningError, match=r"did not sign the commit \(unsigned\)\. It signs with the token of a job"):
        shop.run(sign=True)
    assert (shop.tip(), shop.forge.pulls) == (None, [])


@pytest.mark.parametrize("asked", ["trees", "commits"])
def test_what_github_makes_is_held_against_what_was_asked(shop: Workshop, asked: str) -> None:
    def other(_method: str, address: str, carry_out: Callable[[], Answer]) -> Answer:
        if not address.endswith(asked):
            return carry_out()
        made = git(shop.bare, "rev-parse", "HEAD^{tree}" if asked == "trees" else "HEAD")
        return Answer(201, {}, f'{{"sha": "{made}", "verification": {{"verified": true}}}}'.encode())

    shop.api.fault = other
    with pytest.raises(SigningError, match="other files" if asked == "trees" else "is not the one"):
        shop.run(sign=True)
    assert (shop.tip(), shop.forge.pulls) == (None, [])


def test_what_github_refuses_is_said(shop: Workshop) -> None:
    def refused(_method: str, address: str, carry_out: Callable[[], Answer]) -> Answer:
        return Answer(403, {}, b'{"message": "Resource not accessible"}') if "/git/" in address else carry_out()

    shop.api.fault = refused
    with pytest.raises(ApiError, match=r"git/blobs: Resource not accessible \(403\)"):
        shop.run(sign=True)
    assert shop.forge.pulls == []


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shop = Workshop(tmp_path)
    monkeypatch.chdir(shop.clone)
    monkeypatch.setenv("GITHUB_TOKEN", "t")
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        asked = ["autofix", "--repo", "o/r", "--api-url", address, "--sign"]
        shop.forge.signs = False
        assert main(asked) == 2
        assert "leave --sign out" in capsys.readouterr().err
        shop.forge.signs = True
        assert main(asked) == 0
    assert capsys.readouterr().out == "created: opened pull request 1\n"
    assert signed(shop)
