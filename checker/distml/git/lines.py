"""Which lines of files changed since a commit, by git's own comparison.

git compares two trees of ours: the files as the commit has them, and as they are now, untracked ones included. The working
tree is read by us, never by git, so no filter or attribute of the clone has a say.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from hashlib import new
from tempfile import TemporaryDirectory

from distml.git.clone import Git, GitError, MissingError

Lines = Sequence[range]
"""Lines that changed, from 1. Where lines were removed, the lines before and after."""
ALL: Lines = (range(1, 1 << 60),)

_REVISION = re.compile(r"(?![-.^])(?!.*\.\.)[\w./@~^+#=%,-]{1,200}")
_ENTRY = re.compile(rb"(?:100\d{3} blob|160000 (?P<link>commit)) (?P<what>[0-9a-f]+)\t(?P<name>.+)", re.DOTALL)
_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
_PYTHON = (b".py", b".pyi", b".ipynb")
_NONE = re.compile(r"0+")


class RevisionError(Exception):
    """The text names no commit here; the message is one line."""


def changed_lines(folder: str, revision: str, contents: Mapping[str, bytes]) -> dict[str, Lines]:
    """The lines that changed since `revision` in files with these contents now, by real path.

    `revision` is a commit, branch or tag. Where a branch went on after this one left it, the commit where it left counts. A
    file that the commit does not have, under no name that git recognizes as a rename, changed as a whole; so did all files
    since `HEAD` before the first commit. Files of a submodule changed since the commit of it that the commit names. Raises
    `RevisionError` for a text that names no commit, where there is no repository, and where git fails.
    """
    if not _REVISION.fullmatch(revision):
        raise RevisionError(f"{revision[:80]!r} is not the name of a commit, branch or tag")
    git = Git(folder)
    try:
        top = os.path.realpath(git.ask("rev-parse", "--show-toplevel"))
    except MissingError as error:
        raise RevisionError(f"{error}: it tells which lines changed since {revision!r}") from None
    except GitError as error:
        raise RevisionError(f"there is no repository of git to ask for {revision!r}: {_line(error)}") from None
    try:
        named = git.ask("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except GitError:
        if revision == "HEAD" and _is_unborn(git):
            return dict.fromkeys(contents, ALL)
        raise RevisionError(f"there is no commit, branch or tag {revision!r} here") from None
    try:
        return _compared(git, top, _start(git, named), contents)
    except GitError as error:
        raise RevisionError(_line(error)) from None


def _is_unborn(git: Git) -> bool:
    """Whether `HEAD`, of which git knows no commit, is a branch that waits for its first."""
    try:
        return bool(git.ask("symbolic-ref", "--quiet", "HEAD"))
    except GitError:
        return False


def _start(git: Git, named: str) -> str:
    """Where this branch left the named commit; that commit itself where the history does not say, which gives more lines."""
    try:
        return git.text("merge-base", named, git.ask("rev-parse", "HEAD"))
    except GitError:
        return named


def _compared(git: Git, top: str, commit: str, contents: Mapping[str, bytes]) -> dict[str, Lines]:
    tree, links = _entries(git, commit)
    inside = {path: os.fsencode(os.path.relpath(path, top).replace(os.sep, "/")) for path in contents}
    inside = {path: name for path, name in inside.items() if not name.startswith(b"../")}
    form = "sha256" if len(commit) == 64 else "sha1"
    now = {name: _identity(contents[path], form) for path, name in inside.items()}
    old = {name: tree[name] for name in now.keys() & tree.keys()}
    if now.keys() - tree.keys():  # one of them may have had the name of a file that is gone
        gone = (name for name in tree if name.endswith(_PYTHON) and name not in now and not _is_there(top, name))
        old |= {name: tree[name] for name in gone}
    for path, name in inside.items():
        if now[name] not in {each[1] for each in old.values()}:
            git.run("hash-object", "-w", "--stdin", data=contents[path])
    changed = _differences(git, _tree(git, old), _tree(git, {name: (b"100644", each) for name, each in now.items()}))
    lines = {path: changed.get(name, ()) for path, name in inside.items()}
    for path in inside:
        if lines[path] and b"\r" in contents[path].replace(b"\r\n", b""):
            lines[path] = ALL  # a line end that git does not know: its numbers are not ours
    for link, named in links.items():
        below = {path: contents[path] for path, name in inside.items() if name.startswith(link + b"/")}
        lines |= _in_submodule(os.path.join(top, os.fsdecode(link)), named, below) if below else {}
    return {path: lines.get(path, ALL) for path in contents}


def _in_submodule(top: str, commit: str, contents: Mapping[str, bytes]) -> dict[str, Lines]:
    """The same for files of a submodule in the folder `top`; nothing where it has no such commit."""
    git = Git(top)
    try:
        if os.path.realpath(git.ask("rev-parse", "--show-toplevel")) != top:
            return {}
        return _compared(git, top, git.ask("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"), contents)
    except GitError:
        return {}


def _entries(git: Git, commit: str) -> tuple[dict[bytes, tuple[bytes, str]], dict[bytes, str]]:
    """Mode and identity of each file of a commit, by name, and the commit of each submodule."""
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
    found = [each for each in map(_ENTRY.fullmatch, listed) if each]
    files = {each["name"]: (b"100644", each["what"].decode()) for each in found if not each["link"]}
    return files, {each["name"]: each["what"].decode() for each in found if each["link"]}


def _identity(data: bytes, form: str) -> str:
    """What git calls this content."""
    return new(form, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _is_there(top: str, name: bytes) -> bool:
    try:
        return stat.S_ISREG(os.lstat(os.path.join(os.fsencode(top), name)).st_mode)
    except OSError:
        return False


def _tree(git: Git, entries: Mapping[bytes, tuple[bytes, str]]) -> str:
    """A tree with these files, in our repository."""
    listed = b"".join(b"%s %s\t%s\0" % (mode, each.encode(), name) for name, (mode, each) in entries.items())
    with TemporaryDirectory(prefix="distml-git-") as folder:
        index = os.path.join(folder, "index")
        git.run("update-index", "-z", "--add", "--index-info", data=listed, index=index)
        return git.text("write-tree", "--missing-ok", index=index)


def _differences(git: Git, old: str, new_: str) -> dict[bytes, Lines]:
    """Lines that differ between two trees, by the name in the second."""
    asked = ("diff-tree", "-r", "-M", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--text")
    fields = iter(git.run(*asked, "--raw", "-z", old, new_).split(b"\0"))
    hunks = _hunks(git.run(*asked, "-p", "-U0", "--ignore-cr-at-eol", old, new_).split(b"\n"))
    found: dict[bytes, Lines] = {}
    for head in fields:
        if not head:
            continue
        _, _, before, after, status = head.decode().split(" ")
        name = next(fields)
        if status[0] in "RC":
            name = next(fields)
        found[name] = ALL if _NONE.fullmatch(before) else hunks.get((before, after), ())
    return found


def _hunks(patch: Iterable[bytes]) -> dict[tuple[str, str], Lines]:
    """The changed lines of each pair of contents. What a file holds begins with a sign, so it cannot pass for a header."""
    found: dict[tuple[str, str], list[range]] = {}
    lines: list[range] = []
    for line in patch:
        if pair := _INDEX.match(line):
            lines = found.setdefault((pair[1].decode(), pair[2].decode()), [])
        elif hunk := _HUNK.match(line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.append(range(first, first + count) if count else range(first, first + 2))
    return dict(found)


def _line(error: GitError) -> str:
    return str(error).partition("\n")[0]
