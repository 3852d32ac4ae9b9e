"""What started the run: which repository, which pull request, which files that one changes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from distml.git.clone import Git, GitError
from distml.github import REPOSITORY
from distml.github.pulls import Repository
from distml.github.rest import Api, ApiError

_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
SOURCE = (".py", ".pyi", ".ipynb")


class Change(NamedTuple):
    """The pull request that is checked: its number, the commit it would be merged into, and its own last one if that is known."""

    number: int
    base: str
    head: str = ""


def pull_request() -> Change | None:
    """The pull request of this run; None where something else started it."""
    if os.environ.get("GITHUB_EVENT_NAME") not in ("pull_request", "pull_request_target"):
        return None
    event = _payload().get("pull_request")
    if not isinstance(event, dict):
        return None
    number, base, head = event.get("number"), _commit(event, "base"), _commit(event, "head")
    return Change(number, base, head) if isinstance(number, int) and base else None


def _commit(event: dict[str, Any], end: str) -> str:
    """The commit at one end of a pull request, empty if the event does not tell."""
    found = event.get(end)
    sha = found.get("sha") if isinstance(found, dict) else None
    return sha if isinstance(sha, str) and _OBJECT.fullmatch(sha) else ""


def repository() -> Repository | None:
    """This repository on GitHub, with the token of the run if there is one; None where the run does not say which."""
    named = os.environ.get("GITHUB_REPOSITORY", "")
    if not REPOSITORY.fullmatch(named):
        return None
    owner, _, name = named.partition("/")
    try:
        api = Api(os.environ.get("GITHUB_API_URL") or "https://api.github.com", os.environ.get("GITHUB_TOKEN", ""))
    except ValueError:
        return None
    return Repository(api, owner, name)


class UnknownError(Exception):
    """Nobody can say which files a pull request changes; the message says why."""


def changed_files(change: Change, host: Repository | None, top: str | None) -> list[str]:
    """The files that a pull request changes in the checkout at `top`, relative to the working folder.

    git knows where the base was fetched (`fetch-depth: 2` is enough for the merge that GitHub checks out), else GitHub does.
    Raises `UnknownError`.
    """
    if top is None:
        raise UnknownError("nothing shows which folder is the checkout of this repository")
    try:
        git = Git(top)
        if not _holds(git, change.head):
            raise UnknownError("the checkout is another commit than that of the pull request, or than its merge")
        changed = _by_git(git, change.base)
    except GitError:
        if host is None:
            raise UnknownError("no history, no access") from None
        try:
            changed = host.files(change.number)
        except ApiError as error:
            raise UnknownError(f"no history; {error}") from None
    return [os.path.normpath(os.path.join(top, name)) for name in changed]


def to_check(changed: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The Python files among `changed` that are still there and lie below `paths`."""
    folders = [os.path.abspath(path) for path in paths]
    return [name for name in changed if name.endswith(SOURCE) and os.path.isfile(name) and _below(name, folders)]


def _below(name: str, folders: Sequence[str]) -> bool:
    place = os.path.abspath(name)
    return any(place == each or place.startswith(os.path.join(each, "")) for each in folders)


def _holds(git: Git, head: str) -> bool:
    """Whether the last commit of a pull request is checked out, or what it was merged to, or what was built on that."""
    here = git.ask("rev-parse", "HEAD")
    written, _, _ = git.text("cat-file", "commit", here).partition(
        "\n\n"
    )  # names its parents, however shallow the clone is
    if not head or head == here or f"parent {head}" in written.splitlines():
        return True
    try:
        git.run("merge-base", "--is-ancestor", head, here)
    except GitError:
        return False
    return True


def _by_git(git: Git, base: str) -> list[str]:
    """From the common ancestor where the history is there, else from the base itself, which can only be more files."""
    git.run("cat-file", "-e", f"{base}^{{commit}}")
    head = git.ask("rev-parse", "HEAD")
    try:
        start = git.text("merge-base", base, head)
    except GitError:
        start = base
    wanted = ("--name-only", "-z", "--no-renames", "--diff-filter=d")
    listed = git.run("diff-tree", "-r", *wanted, start, head)
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _payload() -> dict[str, Any]:
    try:
        with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            found = json.load(file)
    except (KeyError, OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
