"""What started the run: which repository, which pull request, which files that one changes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from distml.git.clone import Git, GitError
from distml.github.pulls import Repository
from distml.github.rest import Api, ApiError

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
SOURCE = (".py", ".pyi")


class Change(NamedTuple):
    """The pull request that is checked: its number, and the commit it would be merged into."""

    number: int
    base: str


def pull_request() -> Change | None:
    """The pull request of this run; None where something else started it."""
    if os.environ.get("GITHUB_EVENT_NAME") not in ("pull_request", "pull_request_target"):
        return None
    event = _payload().get("pull_request")
    if not isinstance(event, dict):
        return None
    number, base = event.get("number"), (event.get("base") or {}).get("sha")
    if not isinstance(number, int) or not isinstance(base, str) or not _OBJECT.fullmatch(base):
        return None
    return Change(number, base)


def repository() -> Repository | None:
    """This repository on GitHub, with the token of the run if there is one; None where the run does not say which."""
    named = os.environ.get("GITHUB_REPOSITORY", "")
    if not _REPOSITORY.fullmatch(named):
        return None
    owner, _, name = named.partition("/")
    try:
        api = Api(os.environ.get("GITHUB_API_URL") or "https://api.github.com", os.environ.get("GITHUB_TOKEN", ""))
    except ValueError:
        return None
    return Repository(api, owner, name)


def changed_files(change: Change, host: Repository | None) -> list[str] | None:
    """The files that a pull request changes, relative to the working folder; None where nobody can say.

    git knows where the base was fetched (`fetch-depth: 2` is enough for the merge that GitHub checks out), else GitHub does.
    """
    try:
        return _by_git(Git(os.curdir), change.base)
    except GitError:
        pass
    try:
        return None if host is None else host.files(change.number)
    except ApiError:
        return None


def to_check(changed: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The Python files among `changed` that are still there and lie below `paths`."""
    folders = [os.path.normpath(path) for path in paths]
    return [
        name
        for name in changed
        if name.endswith(SOURCE)
        and os.path.isfile(name)
        and any(each in (".", name) or name.startswith(each + os.sep) for each in folders)
    ]


def _by_git(git: Git, base: str) -> list[str]:
    """From the common ancestor where the history is there, else from the base itself, which can only be more files."""
    git.run("cat-file", "-e", f"{base}^{{commit}}")
    head, here = git.ask("rev-parse", "HEAD"), git.ask("rev-parse", "--show-prefix")
    try:
        start = git.text("merge-base", base, head)
    except GitError:
        start = base
    wanted = ("--name-only", "-z", f"--relative={here}", "--no-renames", "--diff-filter=d")
    listed = git.run("diff-tree", "-r", *wanted, start, head)
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _payload() -> dict[str, Any]:
    try:
        with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            found = json.load(file)
    except (KeyError, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
