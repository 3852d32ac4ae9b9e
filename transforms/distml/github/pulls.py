"""The calls about pull requests. https://docs.github.com/rest/pulls/pulls"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from distml.github.rest import PAGE, Api, ApiError


class PullRequest(NamedTuple):
    """A pull request as far as it matters here; `body` is empty where GitHub has none."""

    number: int
    title: str
    body: str
    state: str
    merged: bool
    labels: tuple[str, ...]


class Comment(NamedTuple):
    """A comment on a pull request."""

    id: int
    body: str
    node: str


_OWN = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on IssueComment { viewerDidAuthor } } }"


class Repository:
    """The pull requests of `owner/name`, from its own branches or from those of the fork that `fork` owns."""

    def __init__(self, api: Api, owner: str, name: str, fork: str = "") -> None:
        self._api, self._fork, self._from = api, fork, fork or owner
        self._home = ("repos", owner, name)

    def pulls(self, branch: str, base: str, state: str) -> list[PullRequest]:
        """Those from `branch` into `base`, newest first. `state`: open, closed or all."""
        found = self._api.pages(*self._home, "pulls", state=state, head=f"{self._from}:{branch}", base=base)
        return sorted(map(_pull, found), key=lambda each: -each.number)

    def create(self, title: str, body: str, branch: str, base: str, draft: bool) -> PullRequest:
        """Open one. Raises `UnknownOutcomeError` where it may have been opened all the same."""
        head = f"{self._fork}:{branch}" if self._fork else branch
        given = {"title": title, "body": body, "head": head, "base": base, "draft": draft}
        return _pull(self._api.post(*self._home, "pulls", body=given))

    def update(self, number: int, **changes: str) -> PullRequest:
        """Change its `title`, `body` or `state`."""
        return _pull(self._api.patch(*self._home, "pulls", number, body=changes))

    def label(self, number: int, labels: Sequence[str]) -> None:
        """Add labels; those it has stay."""
        self._api.add(*self._home, "issues", number, "labels", body={"labels": list(labels)})

    def request_review(self, number: int, people: Sequence[str] = (), teams: Sequence[str] = ()) -> None:
        """Ask people, by login, and teams, by slug, for a review. Raises `ApiError` where one of them cannot be asked."""
        asked = {"reviewers": list(people), "team_reviewers": list(teams)}
        self._api.add(*self._home, "pulls", number, "requested_reviewers", body=asked)

    def assign(self, number: int, people: Sequence[str]) -> list[str]:
        """Assign people; who is assigned then: GitHub passes over those that it does not know or may not assign."""
        found = self._api.add(*self._home, "issues", number, "assignees", body={"assignees": list(people)})
        return [each["login"] for each in (found or {}).get("assignees") or ()]

    def milestones(self) -> dict[str, int]:
        """The numbers of the open milestones, by title."""
        return {each["title"]: int(each["number"]) for each in self._api.pages(*self._home, "milestones")}

    def plan_for(self, number: int, milestone: int) -> bool:
        """Set the milestone; whether it is set: GitHub drops what the token may not change."""
        found = self._api.patch(*self._home, "issues", number, body={"milestone": milestone})
        return bool((found or {}).get("milestone"))

    def comments(self, number: int) -> Iterator[Comment]:
        """The comments on it, oldest first."""
        for each in self._api.pages(*self._home, "issues", number, "comments"):
            yield Comment(int(each["id"]), each.get("body") or "", str(each.get("node_id") or ""))

    def own(self, comments: Iterable[Comment]) -> Iterator[Comment]:
        """Those of the comments that whom the token belongs to wrote: a person, an app, or the job; a hundred a request."""
        waiting = iter(comments)
        while asked := list(islice(waiting, PAGE)):
            nodes = self._api.graphql(_OWN, ids=[each.node for each in asked]).get("nodes")
            if not isinstance(nodes, list) or len(nodes) != len(asked):
                raise ApiError(200, "graphql: the answer is not about what was asked")
            for each, node in zip(asked, nodes):
                if isinstance(node, dict) and node.get("viewerDidAuthor") is True:
                    yield each

    def comment(self, number: int, body: str) -> None:
        """Add a comment."""
        self._api.post(*self._home, "issues", number, "comments", body={"body": body})

    def edit_comment(self, comment: int, body: str) -> None:
        """Replace the text of a comment."""
        self._api.patch(*self._home, "issues", "comments", comment, body={"body": body})

    def files(self, number: int) -> list[str]:
        """The files that it changes and does not remove. Raises `ApiError` where GitHub does not list all of them."""
        found = self._api.pages(*self._home, "pulls", number, "files")
        return [each["filename"] for each in found if each.get("status") != "removed"]


def _pull(found: Any) -> PullRequest:
    return PullRequest(
        int(found["number"]),
        found.get("title") or "",
        found.get("body") or "",
        found.get("state") or "",
        bool(found.get("merged_at")),
        tuple(label["name"] for label in found.get("labels") or () if isinstance(label, dict) and label.get("name")),
    )
