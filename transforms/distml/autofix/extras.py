"""What a new pull request gets besides its text: labels, reviewers, assignees, a milestone.

All of it is a courtesy: a pull request without them is better than none, so what GitHub refuses is a warning. It is given
once, when the pull request is opened; what people choose afterwards stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from distml.github.rest import ApiError


class Extras(NamedTuple):
    """Labels by name, people by login, teams by slug, and a milestone by title or number."""

    labels: Sequence[str] = ()
    reviewers: Sequence[str] = ()
    team_reviewers: Sequence[str] = ()
    assignees: Sequence[str] = ()
    milestone: str = ""


class Host(Protocol):
    """What is asked of the place where pull requests live. All of it may be asked twice."""

    def label(self, number: int, labels: Sequence[str]) -> None: ...
    def request_review(self, number: int, people: Sequence[str] = (), teams: Sequence[str] = ()) -> None: ...
    def assign(self, number: int, people: Sequence[str]) -> list[str]: ...
    def milestones(self) -> dict[str, int]: ...
    def plan_for(self, number: int, milestone: int) -> bool: ...


def give(host: Host, number: int, extras: Extras, warn: Callable[[str], None]) -> None:
    """Give pull request `number` what it is to have, each part by itself."""
    for part, step in _steps(host, number, extras):
        try:
            problem = step()
        except ApiError as error:
            problem = str(error)
        if problem:
            warn(f"pull request {number} has no {part}: {problem}")


def _steps(host: Host, number: int, extras: Extras) -> Iterator[tuple[str, Callable[[], str | None]]]:
    if extras.labels:
        yield "labels", lambda: host.label(number, extras.labels)
    for each in extras.reviewers:  # one by one: GitHub refuses all of a list for one that it does not know
        yield f"review by {each}", lambda each=each: host.request_review(number, people=[each])  # type: ignore[misc]
    for each in extras.team_reviewers:
        yield f"review by the team {each}", lambda each=each: host.request_review(number, teams=[each])  # type: ignore[misc]
    if extras.assignees:
        yield "such assignees", lambda: _assign(host, number, extras.assignees)
    if extras.milestone:
        yield "milestone", lambda: _plan(host, number, extras.milestone)


def _assign(host: Host, number: int, people: Sequence[str]) -> str | None:
    """Why not all of them are assigned: GitHub passes over those that it may not assign."""
    assigned = {each.lower() for each in host.assign(number, people)}
    absent = [each for each in people if each.lower() not in assigned]
    return f"GitHub does not assign {', '.join(absent)}" if absent else None


def _plan(host: Host, number: int, milestone: str) -> str | None:
    known = host.milestones()
    found = known.get(milestone, int(milestone) if milestone.isdecimal() and milestone.isascii() else None)
    if found is None:
        return f"no open milestone is called {milestone!r}; there are {', '.join(map(repr, known)) or 'none'}"
    return None if host.plan_for(number, found) else "GitHub does not set it; the token needs push access"
