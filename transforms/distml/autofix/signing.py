"""A commit that GitHub signs, so that it shows as verified, pushed as any other.

The commit is made by GitHub out of the files sent to it, fetched, held against what was asked for, and pushed from here:
putting the branch there by GitHub's API instead would name no commit that it replaces, and could lose one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distml.autofix.branch import Remote, commit, regular_files
from distml.autofix.proposal import Proposal
from distml.github.objects import Entry, Made


class SigningError(Exception):
    """GitHub does not sign the commit, or made another one than it was asked for. Nothing was pushed."""


class Maker(Protocol):
    """What is asked of the place where commits are signed; `github.objects.Objects` is one. All of it may be asked twice."""

    def blob(self, content: bytes) -> str: ...
    def tree(self, base: str, entries: Sequence[Entry]) -> str: ...
    def commit(self, message: str, tree: str, parent: str) -> Made: ...


def write_signed(remote: Remote, maker: Maker, proposal: Proposal, base: str, tree: str, text: str) -> str:
    """A signed commit with the message `text` over `base`, whose tree is `tree`: `base` with a proposal's changes.

    Raises `SigningError`, `ApiError`, `GitError`.
    """
    files = regular_files(remote.git, base)
    entries = [Entry(each.path, files[each.path].mode, maker.blob(each.after)) for each in proposal.changes]
    below = remote.git.text("rev-parse", "--verify", f"{base}^{{tree}}")
    if (sent := maker.tree(below, entries)) != tree:
        raise SigningError(f"GitHub has other files than those to commit: tree {sent}, not {tree}")
    made = maker.commit(text, tree, base)
    if made.why_not:
        raise SigningError(
            f"GitHub did not sign the commit ({made.why_not}). It signs with the token of a job or of a GitHub App, "
            "not with that of a person: use one of those, or leave --sign out"
        )
    remote.bring(made.id)
    found = commit(remote.git, made.id)
    if not (found.ours and found.signed and found.tree == tree and found.parents == (base,)):
        raise SigningError(f"the commit {made.id} that GitHub made is not the one that it was asked for")
    return made.id
