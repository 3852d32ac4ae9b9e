"""A proposal as a patch that `git apply` takes, for people and for the Action."""

from __future__ import annotations

from distml.autofix.branch import write_tree
from distml.autofix.proposal import Proposal
from distml.git.clone import Git


def patch(git: Git, proposal: Proposal) -> bytes:
    """The difference that a proposal makes, as git writes it: names with odd characters are quoted."""
    if not proposal.changes:
        return b""
    tree = write_tree(git, proposal.base, proposal)
    return git.run("diff-tree", "-p", "--no-ext-diff", "--no-textconv", "--no-renames", proposal.base, tree)
