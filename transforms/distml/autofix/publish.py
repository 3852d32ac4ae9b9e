"""Bring the branch of fixes and its pull request to where they should be; doing it again changes nothing.

Never two pull requests: one is opened only where none is open, and where the answer to that was lost, GitHub is asked
what there is before anything is sent again. Never a lost commit: a branch with work of others is left alone, and every
push names the commit that it replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from distml.autofix import describe
from distml.autofix.branch import (
    Commit,
    MovedError,
    Remote,
    Tips,
    applicable,
    contains,
    marked,
    write_commit,
    write_tree,
)
from distml.autofix.extras import Extras, give
from distml.autofix.extras import Host as Courteous
from distml.autofix.proposal import Proposal
from distml.autofix.signing import Maker, write_signed
from distml.github.pulls import PullRequest
from distml.github.rest import ApiError, UnknownOutcomeError

Result = Literal["created", "updated", "unchanged", "nothing", "closed", "kept", "declined", "stale"]
ROUNDS = 5


class Outcome(NamedTuple):
    """What was done, to which pull request, and a sentence about it."""

    result: Result
    number: int | None
    said: str


class Wanted(NamedTuple):
    """How pull requests are to look, and where what went wrong without mattering is said.

    `signs` has the commit signed; without it the commit is made here, and is not.
    """

    draft: bool = True
    extras: Extras = Extras()
    warn: Callable[[str], None] = lambda _: None
    signs: Maker | None = None


class Host(Courteous, Protocol):
    """What is asked of the place where pull requests live; `github.pulls.Repository` is one."""

    def pulls(self, branch: str, base: str, state: str) -> list[PullRequest]: ...
    def create(self, title: str, body: str, branch: str, base: str, draft: bool) -> PullRequest: ...
    def update(self, number: int, **changes: str) -> PullRequest: ...


class BusyError(Exception):
    """The branch kept moving while it was being brought up to date."""


def publish(proposal: Proposal, remote: Remote, host: Host, wanted: Wanted) -> Outcome:
    """Make branch and pull request say what `proposal` does. Raises `ApiError`, `GitError`, `BusyError`, `SigningError`."""
    for _ in range(ROUNDS):
        try:
            return _round(proposal, remote, host, wanted)
        except MovedError:
            continue
    raise BusyError(f"the branch {remote.branch} moved {ROUNDS} times while it was being updated; run again later")


def _round(proposal: Proposal, remote: Remote, host: Host, wanted: Wanted) -> Outcome:
    """One try. Raises `MovedError` where the branch moved under it."""
    tips = remote.look()
    open_pulls = host.pulls(remote.branch, remote.base, "open")
    number = open_pulls[0].number if open_pulls else None
    if tips.branch is not None and not _free(remote, tips, tips.branch):
        said = f"there are commits of others on {remote.branch}; the branch was not changed"
        return Outcome("kept", number, said)
    if not proposal.changes:
        return _withdraw(remote, host, tips.branch, open_pulls)
    fitting = applicable(remote.git, tips.base, proposal)
    if not fitting.changes:
        return Outcome(
            "stale", number, f"{remote.base} changed since the fixes were computed; they wait for the next run"
        )
    if not open_pulls and _declined(remote, host, fitting):
        return Outcome("declined", None, "a pull request with the same edits was closed; it is not opened again")
    moved = _bring_up_to_date(remote, tips, fitting, wanted.signs)
    return _show(remote, host, fitting, wanted, moved)


def _free(remote: Remote, tips: Tips, head: Commit) -> bool:
    """Whether nothing is lost if the branch is replaced: it is ours, or all of it is in the base."""
    return head.ours or contains(remote.git, tips.base, head.id)


def _declined(remote: Remote, host: Host, proposal: Proposal) -> bool:
    """Whether somebody closed these very edits without merging them, and nothing else was proposed since."""
    latest = next(iter(host.pulls(remote.branch, remote.base, "closed")), None)
    return latest is not None and not latest.merged and describe.key(latest.body) == proposal.key


def _bring_up_to_date(remote: Remote, tips: Tips, proposal: Proposal, signs: Maker | None) -> bool:
    """Push the fixes as one commit over the base, unless they are there already; whether there was something to push."""
    tree = write_tree(remote.git, tips.base, proposal)
    head = tips.branch
    there = head is not None and head.tree == tree and head.parents == (tips.base,)
    if there and (signs is None or (head is not None and head.signed)):
        return False
    text = marked(describe.message(proposal), tree, tips.base)
    if signs is None:
        new = write_commit(remote.git, tree, tips.base, text)
    else:
        new = write_signed(remote, signs, proposal, tips.base, tree, text)
    remote.push(new, head)
    return True


def _show(remote: Remote, host: Host, proposal: Proposal, wanted: Wanted, moved: bool) -> Outcome:
    """Open the pull request, or update the open one."""
    sent = False
    for _ in range(ROUNDS):
        found = host.pulls(remote.branch, remote.base, "open")
        if found and sent:
            return _created(host, found[0], wanted)
        if found:
            return _update(remote, host, proposal, found[0], moved)
        try:
            text = describe.body(proposal, remote.branch)
            made = host.create(describe.TITLE, text, remote.branch, remote.base, wanted.draft)
        except UnknownOutcomeError:
            sent = True  # it may be there: look before sending it again
        except ApiError as error:
            if error.status != 422:
                raise
            if error.says("already exists"):
                continue
            if remote.look().branch is None or error.says("No commits between"):
                raise MovedError(remote.branch) from None
            raise
        else:
            return _created(host, made, wanted)
    raise ApiError(0, "cannot tell whether the pull request was opened; run again")


def _created(host: Host, pull: PullRequest, wanted: Wanted) -> Outcome:
    give(host, pull.number, wanted.extras, wanted.warn)
    return Outcome("created", pull.number, f"opened pull request {pull.number}")


def _update(remote: Remote, host: Host, proposal: Proposal, pull: PullRequest, moved: bool) -> Outcome:
    text = describe.body(proposal, remote.branch, pull.body)
    changed = text.replace("\r\n", "\n") != pull.body.replace("\r\n", "\n")
    if changed:
        host.update(pull.number, body=text)
    if moved or changed:
        return Outcome("updated", pull.number, f"updated pull request {pull.number}")
    return Outcome("unchanged", pull.number, f"pull request {pull.number} is up to date")


def _withdraw(remote: Remote, host: Host, head: Commit | None, open_pulls: Sequence[PullRequest]) -> Outcome:
    """Close what is open and remove the branch."""
    for pull in open_pulls:
        host.update(pull.number, state="closed", body=describe.withdrawn(pull.body))
    if head is not None:
        try:
            remote.delete(head)
        except MovedError:
            for pull in open_pulls:
                host.update(pull.number, state="open", body=pull.body)
            raise
    if open_pulls:
        return Outcome(
            "closed", open_pulls[0].number, f"nothing is left to fix: closed pull request {open_pulls[0].number}"
        )
    return Outcome("nothing", None, "nothing to fix")
