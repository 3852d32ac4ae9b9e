"""The branch that fixes live on: one commit over the base, replaced only while nobody else has built on it.

A commit is ours if its message says which tree and which parent it was made with, both are still so, and it was
committed by us, or by GitHub with its signature (`signing`). Whatever else is on the branch is somebody's work. A push
says which commit it replaces, so that one that arrives meanwhile makes it fail (`--force-with-lease`).
"""

from __future__ import annotations

import os
import tempfile
from typing import NamedTuple

from distml.autofix.proposal import Proposal, checked_path
from distml.git.clone import EMAIL, Git, GitError

TREE, PARENT = "Distml-Tree", "Distml-Base"
REGULAR = ("100644", "100755")
_QUIETLY = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
_BASE, _BRANCH = "refs/distml/base", "refs/distml/branch"


class MovedError(Exception):
    """The branch is no longer what it was when it was looked at."""


class Commit(NamedTuple):
    """A commit at the tip of a branch."""

    id: str
    tree: str
    parents: tuple[str, ...]
    ours: bool
    signed: bool = False


class Entry(NamedTuple):
    """A file of a commit: its mode, the object that holds its content, and how many bytes that has."""

    mode: str
    blob: str
    size: int


class Tips(NamedTuple):
    """Where the base is, and the branch of fixes if there is one."""

    base: str
    branch: Commit | None


class Remote:
    """The branch `base` at the remote of that name, and `branch` there or at the remote `fork`."""

    def __init__(self, git: Git, remote: str, base: str, branch: str, fork: str = "") -> None:
        self.git, self.remote, self.home = git, remote, fork or remote
        self.base, self.branch = base, branch

    def look(self) -> Tips:
        """Fetch both. Raises `GitError`, also where there is no base."""
        for tries_left in (2, 1, 0):
            if self._listed(self.remote, self.base) is None:
                raise GitError(f"there is no branch {self.base} at {self.remote}")
            try:
                base = self._fetched(self.remote, self.base, _BASE)
                there = self._listed(self.home, self.branch) is not None
                head = self._fetched(self.home, self.branch, _BRANCH) if there else None
                break
            except GitError:  # a branch that was removed since it was listed, or a connection that broke
                if not tries_left:
                    raise
        return Tips(base, None if head is None else commit(self.git, head))

    def bring(self, sha: str) -> None:
        """Fetch a commit that is at no branch."""
        self.git.run("fetch", *_QUIETLY, "--", self.git.address(self.home), sha)

    def push(self, new: str, replaced: Commit | None) -> None:
        """Put the branch at `new`. Raises `MovedError` where it is not at `replaced` any more."""
        self._push(f"{new}:refs/heads/{self.branch}", replaced)

    def delete(self, replaced: Commit) -> None:
        """Remove the branch. Raises `MovedError` where it is not at `replaced` any more."""
        self._push(f":refs/heads/{self.branch}", replaced)

    def _push(self, refspec: str, replaced: Commit | None) -> None:
        expected, where = replaced.id if replaced else None, self.git.address(self.home, push=True)
        lease = f"--force-with-lease=refs/heads/{self.branch}:{expected or ''}"
        for tries_left in (2, 1, 0):
            try:
                self.git.run("push", "--quiet", "--no-verify", "--porcelain", lease, "--", where, refspec)
            except GitError:
                now = self._listed(self.home, self.branch)
                if now == (refspec.partition(":")[0] or None):
                    return  # it arrived, only the answer was lost
                if now != expected:
                    raise MovedError(self.branch) from None
                if not tries_left:
                    raise
            else:
                return

    def _listed(self, remote: str, branch: str) -> str | None:
        """The commit at the tip of a branch, None where there is no such branch."""
        found = self.git.text("ls-remote", "--", self.git.address(remote), f"refs/heads/{branch}")
        rows = (line.split("\t") for line in found.splitlines())
        return next((sha for sha, name in rows if name == f"refs/heads/{branch}"), None)

    def _fetched(self, remote: str, branch: str, local: str) -> str:
        refspec = f"+refs/heads/{branch}:{local}"
        self.git.run("fetch", *_QUIETLY, "--", self.git.address(remote), refspec)
        return self.git.text("rev-parse", "--verify", f"{local}^{{commit}}")


def commit(git: Git, sha: str) -> Commit:
    """A commit, and whether it is ours."""
    head, _, message = git.text("cat-file", "commit", sha).partition("\n\n")
    fields = [line.partition(" ") for line in head.splitlines()]
    tree = next(value for name, _, value in fields if name == "tree")
    parents = tuple(value for name, _, value in fields if name == "parent")
    signed = any(name == "gpgsig" for name, _, _ in fields)
    addresses = (f" <{EMAIL}> ", " <noreply@") if signed else (f" <{EMAIL}> ",)
    by_us = any(name == "committer" and any(each in value for each in addresses) for name, _, value in fields)
    said = dict(line.split(": ", 1) for line in message.splitlines() if line.startswith((f"{TREE}: ", f"{PARENT}: ")))
    ours = by_us and said.get(TREE) == tree and len(parents) == 1 and said.get(PARENT) == parents[0]
    return Commit(sha, tree, parents, ours, signed)


def contains(git: Git, base: str, sha: str) -> bool:
    """Whether the commit `sha` is part of the history of `base`."""
    try:
        git.run("merge-base", "--is-ancestor", sha, base)
    except GitError:
        return False
    return True


def applicable(git: Git, base: str, proposal: Proposal) -> Proposal:
    """The part of a proposal whose files are in the commit `base` as they were when it was made."""
    files = regular_files(git, base)
    return proposal.only(
        frozenset(c.path for c in proposal.changes if c.path in files and files[c.path].blob == c.before)
    )


def regular_files(git: Git, sha: str) -> dict[str, Entry]:
    """The regular files of a commit by path; no links, no submodules."""
    rows = git.run("ls-tree", "-r", "-z", "-l", "--full-tree", sha).split(b"\0")
    found: dict[str, Entry] = {}
    for row in filter(None, rows):
        kind, _, path = row.partition(b"\t")
        mode, _type, blob, size = kind.decode().split()
        if mode in REGULAR:
            found[os.fsdecode(path)] = Entry(mode, blob, int(size))
    return found


def write_tree(git: Git, base: str, proposal: Proposal) -> str:
    """The tree of `base` with the changes of a proposal. Raises `ProposalError` for a file that may not be changed."""
    files = regular_files(git, base)
    entries = b""
    for change in proposal.changes:
        mode = files[checked_path(change.path)].mode
        blob = git.text("hash-object", "-w", "--stdin", "--no-filters", data=change.after)
        entries += f"{mode} {blob}\t".encode() + os.fsencode(change.path) + b"\0"
    with tempfile.TemporaryDirectory(prefix="distml-") as folder:
        index = os.path.join(folder, "index")
        git.run("read-tree", base, index=index)
        git.run("update-index", "-z", "--index-info", data=entries, index=index)
        return git.text("write-tree", index=index)


def marked(message: str, tree: str, base: str) -> str:
    """The message of a commit of ours with this tree over `base`."""
    text = f"{message}\n\n{TREE}: {tree}\n{PARENT}: {base}\n"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_commit(git: Git, tree: str, base: str, text: str) -> str:
    """A commit with this tree over `base`, in our name."""
    return git.text("commit-tree", tree, "-p", base, data=text.encode("utf-8"))
