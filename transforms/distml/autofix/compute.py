"""From a commit to a proposal: the commit is written into a folder of its own, fixers work there, what differs is taken.

Fixers read source. Nothing of the repository runs here, its hooks and its filters of git included.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence

from distml.autofix.branch import Entry, regular_files
from distml.autofix.fixes import Fixed
from distml.autofix.proposal import (
    FILE_BYTES,
    Change,
    Left,
    Proposal,
    ProposalError,
    Reason,
    below,
    checked_path,
    is_inside,
)
from distml.git.clone import Git

Fixer = Callable[[str, Sequence[str]], Fixed]
"""Mends files of a folder in place, and says why."""


READ = (".py", ".pyi", ".toml")


def compute(git: Git, base: str, fixers: Sequence[Fixer], wanted: Sequence[str] = ()) -> Proposal:
    """What the fixers do to the commit `base`, in the files below the paths `wanted`, if any are given."""
    entries = {path: entry for path, entry in regular_files(git, base).items() if entry.size <= FILE_BYTES}
    files = sorted(path for path in entries if _may_change(path) and (not wanted or below(path, wanted)))
    reasons: dict[str, list[Reason]] = {}
    left: list[Left] = []
    with tempfile.TemporaryDirectory(prefix="distml-") as folder:
        before = _export(
            git, {path: e for path, e in entries.items() if path.endswith(READ) and is_inside(path)}, folder
        )
        for fixer in fixers:
            fixed = fixer(folder, files)
            left.extend(fixed.left)
            for path, each in fixed.reasons.items():
                reasons.setdefault(path, []).extend(each)
        after = {path: _read(folder, path) for path in files}
    changes = tuple(
        Change(path, entries[path].blob, after[path], tuple(reasons.get(path, ())))
        for path in files
        if after[path] != before[path] and len(after[path]) <= FILE_BYTES
    )
    return Proposal(base, changes, tuple(left))


def _may_change(path: str) -> bool:
    try:
        return bool(checked_path(path))
    except ProposalError:
        return False


def _export(git: Git, entries: Mapping[str, Entry], folder: str) -> dict[str, bytes]:
    """Write files as the commit has them: `git archive` would heed attributes, a worktree would leave traces."""
    wanted = "".join(f"{entry.blob}\n" for entry in entries.values())
    stream = io.BytesIO(git.run("cat-file", "--batch", data=wanted.encode()))
    contents: dict[str, bytes] = {}
    for path, entry in entries.items():
        stream.readline()
        contents[path] = stream.read(entry.size)
        stream.readline()
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "xb") as file:  # names that differ in case alone may be one here
            file.write(contents[path])
    return contents


def _read(folder: str, path: str) -> bytes:
    with open(os.path.join(folder, path), "rb") as file:
        return file.read()
