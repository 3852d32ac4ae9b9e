"""The branch of fixes and its pull request, over real git: one of each, and nothing of others lost."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from distml.autofix.extras import Extras
from distml.autofix.proposal import Change, Proposal, ProposalError, Reason
from distml.git.clone import EMAIL
from distml.github.rest import Answer, ApiError

from delivery.repositories import git
from delivery.workshop import BAD, BASE, BRANCH, Workshop

pytestmark = pytest.mark.requires("git")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_a_pull_request_is_opened(shop: Workshop) -> None:
    outcome = shop.run()
    assert (outcome.result, outcome.number) == ("created", 1)
    (pull,) = shop.forge.open
    assert (pull["head"], pull["base"], pull["draft"], pull["labels"]) == (BRANCH, BASE, True, ["distml"])
    assert "line 1: remove the comment (`SRC301`)<br>SHP101 is not found on this line" in pull["body"]
    files = shop.files(BRANCH)
    assert files == {"a.py": "x = 1\n", "b.py": "y = 1\n", "notes.txt": f"x = 1{BAD}\n"}
    assert git(shop.bare, "log", "-1", "--format=%ce %P", BRANCH) == f"{EMAIL} {shop.tip(BASE)}"


def test_running_again_changes_nothing(shop: Workshop) -> None:
    shop.run()
    tip = shop.tip()
    shop.forge.requests.clear()
    assert shop.run().result == "unchanged"
    assert shop.tip() == tip
    assert {method for method, _ in shop.forge.requests} == {"GET"}


def test_the_open_one_is_updated_in_place(shop: Workshop) -> None:
    shop.run()
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    assert shop.run().result == "updated"
    (pull,) = shop.forge.pulls
    assert "`b.py`" in pull["body"]
    assert git(shop.bare, "rev-list", "--count", f"{BASE}..{BRANCH}") == "1"


def test_what_people_wrote_around_the_description_stays(shop: Workshop) -> None:
    shop.run()
    (pull,) = shop.forge.open
    pull["body"] = f"Please \\1 look.\r\n\r\n{pull['body']}\r\n\r\ncloses #7"
    pull["title"] = "a better title"
    assert shop.run().result == "unchanged"
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    shop.run()
    assert pull["body"].startswith("Please \\1 look.")
    assert pull["body"].endswith("closes #7")
    assert "`b.py`" in pull["body"]
    assert pull["title"] == "a better title"


def test_it_is_closed_when_nothing_is_left(shop: Workshop) -> None:
    shop.run()
    shop.commit(BASE, {"a.py": "x = 1\n"})
    assert shop.run().result == "closed"
    assert shop.forge.open == []
    assert shop.tip() is None
    assert shop.run().result == "nothing"
    shop.commit(BASE, {"a.py": f"x = 1{BAD}\n"})
    assert shop.run().result == "created", "what we closed ourselves is not what somebody declined"


def test_nothing_is_done_without_a_difference(shop: Workshop) -> None:
    shop.commit(BASE, {"a.py": "x = 1\n"})
    assert shop.run().result == "nothing"
    assert (shop.tip(), shop.forge.pulls) == (None, [])


def test_a_person_on_the_branch_is_respected(shop: Workshop) -> None:
    shop.run()
    theirs = shop.commit(BRANCH, {"c.py": "mine\n"})
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    outcome = shop.run()
    assert (outcome.result, outcome.number) == ("kept", 1)
    shop.commit(BASE, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    assert shop.run().result == "kept"
    assert shop.tip() == theirs
    assert len(shop.forge.open) == 1


def test_an_amended_commit_is_a_persons(shop: Workshop) -> None:
    shop.run()
    theirs = shop.commit(BRANCH, {"c.py": "mine\n"}, amend=True)
    assert shop.run().result == "kept"
    assert shop.tip() == theirs


def test_a_closed_one_is_not_opened_again(shop: Workshop) -> None:
    shop.run()
    shop.forge.open[0]["state"] = "closed"
    assert shop.run().result == "declined"
    shop.commit(BASE, {"notes.txt": "more\n"})
    assert shop.run().result == "declined", "the same edits, wherever the base is"
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    assert shop.run().result == "created"
    assert len(shop.forge.open) == 1


def test_the_base_moved_since_the_fixes_were_computed(shop: Workshop) -> None:
    old = shop.proposal()
    shop.commit(BASE, {"a.py": f"x = 2{BAD}\n"})
    assert shop.run(old).result == "stale"
    assert (shop.tip(), shop.forge.pulls) == (None, [])


def test_another_file_of_the_base_moved(shop: Workshop) -> None:
    old = shop.proposal()
    shop.commit(BASE, {"notes.txt": "more\n"})
    assert shop.run(old).result == "created"
    assert shop.files(BRANCH)["notes.txt"] == "more\n"


def test_a_person_pushes_meanwhile(shop: Workshop) -> None:
    shop.run()
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    theirs: list[str] = []
    outcome = shop.run(meanwhile=lambda: theirs.append(shop.commit(BRANCH, {"c.py": "mine\n"})))
    assert outcome.result == "kept"
    assert [shop.tip()] == theirs


def test_a_person_pushes_while_it_is_closed(shop: Workshop) -> None:
    shop.run()
    shop.commit(BASE, {"a.py": "x = 1\n"})
    theirs: list[str] = []
    outcome = shop.run(meanwhile=lambda: theirs.append(shop.commit(BRANCH, {"c.py": "mine\n"})))
    assert outcome.result == "kept"
    assert [shop.tip()] == theirs
    assert len(shop.forge.open) == 1


def test_the_branch_is_made_by_somebody_meanwhile(shop: Workshop) -> None:
    git(shop.bare, "branch", "other", BASE)
    theirs = shop.commit("other", {"c.py": "mine\n"})
    outcome = shop.run(meanwhile=lambda: git(shop.bare, "update-ref", f"refs/heads/{BRANCH}", theirs))
    assert outcome.result == "kept"
    assert shop.tip() == theirs


Carry = Callable[[], Answer]


def failing(shop: Workshop, method: str, answers: list[Answer | None], carried_out: bool) -> None:
    """The next requests with this method get these answers; None breaks the connection."""

    def fault(verb: str, _address: str, carry_out: Carry) -> Answer:
        if verb != method or not answers:
            return carry_out()
        if carried_out:
            carry_out()
        return answers.pop(0) or Answer(0, {}, b'{"message": "no answer: reset"}')

    shop.api.fault = fault


BROKEN = [None, Answer(502, {}, b"<html>"), Answer(500, {}, b"{}"), Answer(503, {}, b"")]


@pytest.mark.parametrize("answer", BROKEN, ids=["dropped", "502", "500", "503"])
@pytest.mark.parametrize("carried_out", [True, False], ids=["after", "before"])
def test_the_answer_to_opening_is_lost(shop: Workshop, answer: Answer | None, carried_out: bool) -> None:
    failing(shop, "POST", [answer], carried_out)
    assert shop.run().result == "created"
    (pull,) = shop.forge.pulls
    assert pull["labels"] == ["distml"]


@pytest.mark.parametrize("method", ["GET", "PATCH"])
@pytest.mark.parametrize("carried_out", [True, False], ids=["after", "before"])
@pytest.mark.parametrize(
    "answer", [*BROKEN[:2], Answer(409, {}, b'{"message": "Conflict"}')], ids=["dropped", "502", "409"]
)
def test_what_may_be_repeated_is(shop: Workshop, method: str, answer: Answer | None, carried_out: bool) -> None:
    shop.run()
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    failing(shop, method, [answer, answer], carried_out)
    assert shop.run().result == "updated"
    assert len(shop.forge.pulls) == 1


@pytest.mark.parametrize(
    ("answer", "waits"),
    [
        (Answer(403, {"retry-after": "17"}, b"{}"), 17.0),
        (Answer(429, {"retry-after": "3"}, b"{}"), 3.0),
        (Answer(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1042"}, b"{}"), 43.0),
        (Answer(403, {}, b'{"message": "You have exceeded a secondary rate limit."}'), 60.0),
    ],
)
def test_limits_are_waited_for(shop: Workshop, answer: Answer, waits: float) -> None:
    failing(shop, "POST", [answer], carried_out=False)
    assert shop.run().result == "created"
    assert shop.api.slept == [waits]
    assert len(shop.forge.pulls) == 1


def test_a_limit_that_lasts_too_long_is_an_error(shop: Workshop) -> None:
    failing(shop, "GET", [Answer(403, {"retry-after": "4000"}, b'{"message": "later"}')], carried_out=False)
    with pytest.raises(ApiError, match="later"):
        shop.run()
    assert shop.api.slept == []


def test_no_right_to_open_one_is_an_error(shop: Workshop) -> None:
    refused = Answer(403, {}, b'{"message": "Resource not accessible by integration"}')
    failing(shop, "POST", [refused], carried_out=False)
    with pytest.raises(ApiError, match="not accessible by integration"):
        shop.run()
    assert shop.run().result == "created"


def test_an_other_422_is_an_error_that_says_what_github_says(shop: Workshop) -> None:
    said = b'{"message": "Validation Failed", "errors": [{"message": "Draft pull requests are not supported"}]}'
    failing(shop, "POST", [Answer(422, {}, said)], carried_out=False)
    with pytest.raises(ApiError, match="Draft pull requests are not supported"):
        shop.run()


def test_two_runs_at_once_open_one(shop: Workshop) -> None:
    def another(_method: str, _address: str, carry_out: Carry) -> Answer:
        if _method != "POST":
            return carry_out()
        shop.api.fault = lambda _m, _a, carry: carry()
        assert shop.run().result == "created"
        return carry_out()

    shop.api.fault = another
    assert shop.run().result in ("unchanged", "updated")
    assert len(shop.forge.pulls) == 1


GIVEN = {"labels": ["distml"], "reviewers": ["ann"], "team_reviewers": ["core"], "assignees": ["bob"], "milestone": 3}


def given(shop: Workshop) -> dict[str, object]:
    (pull,) = shop.forge.pulls
    return {name: pull[name] for name in GIVEN}


def test_people_and_a_milestone(shop: Workshop) -> None:
    shop.run()
    assert given(shop) == GIVEN
    assert shop.warnings == []


def test_what_people_chose_since_stays(shop: Workshop) -> None:
    shop.run()
    chosen = {"labels": ["theirs"], "reviewers": [], "team_reviewers": [], "assignees": ["ann"], "milestone": None}
    shop.forge.pulls[0].update(chosen)
    shop.commit(BASE, {"b.py": f"y = 1{BAD}\n"})
    assert shop.run().result == "updated"
    assert shop.run().result == "unchanged"
    assert given(shop) == chosen


@pytest.mark.parametrize(
    ("end", "part", "absent"),
    [
        ("/labels", "no labels: POST", {"labels": []}),
        ("/requested_reviewers", "no review by ann: POST", {"reviewers": [], "team_reviewers": []}),
        ("/assignees", "no such assignees: POST", {"assignees": []}),
        ("/issues/1", "no milestone: PATCH", {"milestone": None}),
        ("/milestones", "no milestone: GET", {"milestone": None}),
    ],
)
def test_what_else_it_has_is_a_courtesy(shop: Workshop, end: str, part: str, absent: dict[str, object]) -> None:
    def fault(_method: str, address: str, carry_out: Carry) -> Answer:
        refused = address.partition("?")[0].endswith(end)
        return Answer(404, {}, b'{"message": "Not Found"}') if refused else carry_out()

    shop.api.fault = fault
    assert shop.run().result == "created"
    assert given(shop) == GIVEN | absent
    assert part in shop.warnings[0]


@pytest.mark.parametrize(
    ("wanted", "said", "has"),
    [
        (Extras(reviewers=("eve", "bob")), "no review by eve: POST", {"reviewers": ["bob"]}),
        (Extras(team_reviewers=("nobody",)), "no review by the team nobody", {"team_reviewers": []}),
        (Extras(assignees=("Ann", "eve")), "no such assignees: GitHub does not assign eve", {"assignees": ["ann"]}),
        (Extras(milestone="later"), "no open milestone is called 'later'; there are 'next', '7'", {"milestone": None}),
        (Extras(milestone="7"), "", {"milestone": 4}),
        (Extras(milestone="3"), "", {"milestone": 3}),
        (Extras(milestone="9"), "no milestone: PATCH", {"milestone": None}),
    ],
)
def test_whom_github_does_not_know(shop: Workshop, wanted: Extras, said: str, has: dict[str, object]) -> None:
    assert shop.run(extras=wanted).result == "created"
    assert given(shop).items() >= has.items()
    assert said in "".join(shop.warnings)
    assert bool(shop.warnings) == bool(said)


@pytest.mark.parametrize("answer", BROKEN, ids=["dropped", "502", "500", "503"])
@pytest.mark.parametrize("carried_out", [True, False], ids=["after", "before"])
@pytest.mark.parametrize("end", ["/labels", "/requested_reviewers", "/assignees", "/issues/1"])
def test_what_may_be_given_twice_is_sent_again(
    shop: Workshop, end: str, answer: Answer | None, carried_out: bool
) -> None:
    answers = [answer]

    def fault(_method: str, address: str, carry_out: Carry) -> Answer:
        if not address.endswith(end) or not answers:
            return carry_out()
        if carried_out:
            carry_out()
        return answers.pop() or Answer(0, {}, b"")

    shop.api.fault = fault
    assert shop.run().result == "created"
    assert given(shop) == GIVEN
    assert shop.warnings == []


def blob(shop: Workshop, path: str) -> str:
    return git(shop.bare, "rev-parse", f"{BASE}:{path}")


@pytest.mark.parametrize(
    "path", ["notes.txt", ".github/x.py", "../x.py", "/x.py", "a/./x.py", ".GIT/hooks/x.py", "x\0.py"]
)
def test_only_python_files_are_published(shop: Workshop, path: str) -> None:
    base = shop.tip(BASE)
    assert base is not None
    change = Change(path, blob(shop, "notes.txt"), b"x\n", (Reason(1, "w", "y"),))
    with contextlib.suppress(ProposalError):
        shop.run(Proposal(base, (change,)))
    assert shop.tip() is None


def test_links_and_new_files_are_not_published(shop: Workshop) -> None:
    link = git(shop.bare, "hash-object", "-w", "--stdin", data="a.py")
    listed = git(shop.bare, "ls-tree", BASE) + f"\n120000 blob {link}\tlink.py\n"
    tree = git(shop.bare, "mktree", data=listed)
    tip = git(shop.bare, "commit-tree", tree, "-p", BASE, data="link")
    git(shop.bare, "update-ref", f"refs/heads/{BASE}", tip)
    changes = (Change("link.py", link, b"/etc/passwd"), Change("new.py", "0" * 40, b"x = 1\n"))
    assert shop.run(Proposal(tip, changes)).result == "stale"
    assert shop.tip() is None


def test_hooks_of_the_clone_do_not_run(shop: Workshop) -> None:
    hooks = shop.clone / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-push", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {shop.clone}/ran\n")
        (hooks / name).chmod(0o755)
    assert shop.run().result == "created"
    assert not (shop.clone / "ran").exists()
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=shop.clone, capture_output=True, text=True, check=True
    )
    assert status.stdout == "", "the working tree is as it was"
