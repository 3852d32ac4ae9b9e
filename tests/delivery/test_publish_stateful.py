"""Any order of runs, pushes, merges, closings, faults and crashes: one pull request at most, no commit of others lost."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from distml.autofix import describe
from distml.github.rest import Answer

from delivery.repositories import git
from delivery.workshop import BAD, BASE, BRANCH, Workshop

pytestmark = pytest.mark.requires("git")
FILES = st.sampled_from(["a.py", "b.py"])
FAULTS = {"dropped": Answer(0, {}, b""), "502": Answer(502, {}, b""), "limit": Answer(403, {"retry-after": "1"}, b"")}


class CrashError(Exception):
    """The process ends here."""


class People(RuleBasedStateMachine):
    """What people and autofix do, and what must hold all the time."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="distml-people-"))
        self.shop = Workshop(self.folder)
        self.theirs: set[str] = set()
        self.count = 0
        self.sign = False

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def text(self, word: str) -> str:
        self.count += 1
        return f"x = {self.count}{word}\n"

    @rule(name=FILES, word=st.sampled_from([BAD, "", ""]))
    def somebody_changes_the_base(self, name: str, word: str) -> None:
        self.shop.commit(BASE, {name: self.text(word)})

    @rule()
    def everything_is_mended_in_the_base(self) -> None:
        self.shop.commit(BASE, {"a.py": "x = 0\n", "b.py": "x = 0\n"})

    @precondition(lambda self: self.shop.tip())
    @rule()
    def somebody_works_on_the_branch(self) -> None:
        self.theirs.add(self.shop.commit(BRANCH, {"c.py": self.text("")}))

    @precondition(lambda self: self.shop.tip())
    @rule()
    def somebody_amends_the_commit(self) -> None:
        self.theirs.discard(self.shop.tip() or "")
        self.theirs.add(self.shop.commit(BRANCH, {"c.py": self.text("")}, amend=True))

    @precondition(lambda self: self.shop.tip())
    @rule()
    def somebody_removes_the_branch(self) -> None:
        git(self.shop.bare, "update-ref", "-d", f"refs/heads/{BRANCH}")
        self.theirs.clear()

    @precondition(lambda self: self.shop.forge.open)
    @rule()
    def somebody_closes_it(self) -> None:
        self.shop.forge.open[0]["state"] = "closed"

    @precondition(lambda self: self.shop.forge.open)
    @rule(remove=st.booleans())
    def somebody_merges_it(self, remove: bool) -> None:
        shop, (pull,) = self.shop, self.shop.forge.open
        new = git(shop.bare, "commit-tree", f"{BRANCH}^{{tree}}", "-p", BASE, "-p", BRANCH, data="merged")
        git(shop.bare, "update-ref", f"refs/heads/{BASE}", new)
        pull.update(state="closed", merged_at="2026-01-01T00:00:00Z")
        if remove:
            git(shop.bare, "update-ref", "-d", f"refs/heads/{BRANCH}")

    @initialize(sign=st.booleans())
    def there_is_something_to_fix(self, sign: bool) -> None:
        self.sign = sign
        self.it_runs()

    @rule()
    def it_runs(self) -> None:
        self.shop.run(sign=self.sign)
        self.everything_is_in_place()

    @rule(kind=st.sampled_from(sorted(FAULTS)), number=st.integers(0, 7), carried_out=st.booleans())
    def it_runs_with_a_fault(self, kind: str, number: int, carried_out: bool) -> None:
        def answer(carry_out: Callable[[], Answer]) -> Answer:
            if carried_out and kind != "limit":
                carry_out()
            return FAULTS[kind]

        self.at_request(number, answer)
        self.shop.run(sign=self.sign)
        self.everything_is_in_place()

    @rule(number=st.integers(0, 7), carried_out=st.booleans())
    def it_crashes_and_runs_again(self, number: int, carried_out: bool) -> None:
        def answer(carry_out: Callable[[], Answer]) -> Answer:
            if carried_out:
                carry_out()
            raise CrashError

        self.at_request(number, answer)
        with contextlib.suppress(CrashError):
            self.shop.run(sign=self.sign)
        self.shop.api.fault = lambda _m, _a, carry_out: carry_out()
        self.shop.run(sign=self.sign)
        self.everything_is_in_place()

    @rule()
    def somebody_pushes_while_it_runs(self) -> None:
        def push() -> None:
            if not self.shop.tip():
                git(self.shop.bare, "update-ref", f"refs/heads/{BRANCH}", BASE)
            self.somebody_works_on_the_branch()

        self.shop.run(meanwhile=push, sign=self.sign)
        self.everything_is_in_place()

    def at_request(self, number: int, answer: Callable[[Callable[[], Answer]], Answer]) -> None:
        left = [number]

        def fault(_method: str, _address: str, carry_out: Callable[[], Answer]) -> Answer:
            left[0] -= 1
            return answer(carry_out) if left[0] == -1 else carry_out()

        self.shop.api.fault = fault

    def everything_is_in_place(self) -> None:
        """What a run promises, from what people see; and that another one finds nothing to do."""
        shop = self.shop
        shop.api.fault = lambda _m, _a, carry_out: carry_out()
        base, tip = shop.files(BASE), shop.tip()
        mended = {name: text.replace(BAD, "") if name.endswith(".py") else text for name, text in base.items()}
        others = tip is not None and self.theirs & set(git(shop.bare, "rev-list", f"{BASE}..{BRANCH}").split())
        if not others and mended == base:
            assert (tip, shop.forge.open) == (None, [])
        elif not others and shop.forge.open:
            assert shop.files(BRANCH) == mended
            assert git(shop.bare, "rev-list", "--parents", "-1", BRANCH).split()[1:] == [shop.tip(BASE)]
        elif not others:
            assert shop.forge.pulls[-1]["merged_at"] is None, "nothing is open only where somebody declined it"
            assert describe.key(shop.forge.pulls[-1]["body"]) == shop.proposal().key
        shop.forge.requests.clear()
        assert shop.run(sign=self.sign).result in ("unchanged", "nothing", "kept", "declined")
        assert shop.tip() == tip
        assert {method for method, _ in shop.forge.requests} <= {"GET"}

    @invariant()
    def there_is_one_pull_request_at_most(self) -> None:
        assert len(self.shop.forge.open) <= 1

    @invariant()
    def no_commit_is_lost(self) -> None:
        heads = [branch for branch in (BASE, BRANCH) if self.shop.tip(branch)]
        assert self.theirs <= set(git(self.shop.bare, "rev-list", *heads).split())


def test_people_and_autofix() -> None:
    run_state_machine_as_test(
        People,
        settings=settings(max_examples=12, stateful_step_count=8),
    )
