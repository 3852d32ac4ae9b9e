"""What a repository's ignore files leave out, by git's rules and without git.

git runs commands that a repository's own configuration names, so a tree that is only to be checked is never shown to it.
Read are `.gitignore` in every folder from the repository's root on, and the clone's `info/exclude`. The rules:
https://git-scm.com/docs/gitignore. Unlike `git status`, and like `git check-ignore --no-index`, nothing asks whether a file
is tracked. A person's own list (`core.excludesFile`) is not read, so that a check finds the same on each machine.

Files and patterns may be hostile: what is read is bounded, and matching takes time that grows with the product of the
lengths of pattern and path and no faster.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from distml.engine.config import ConfigError

LARGEST = 1024 * 1024  # bytes of a file of patterns
_STAR = b"*"
_CLASSES = {
    name: items.encode()
    for name, items in {
        "alnum": "0-9A-Za-z",
        "alpha": "A-Za-z",
        "blank": r" \t",
        "cntrl": r"\x00-\x1f\x7f",
        "digit": "0-9",
        "graph": r"\x21-\x7e",
        "lower": "a-z",
        "print": r"\x20-\x7e",
        "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
        "space": r"\t-\r ",
        "upper": "A-Z",
        "xdigit": "0-9A-Fa-f",
    }.items()
}
Parts = tuple[bytes, ...]


def ignored(files: Iterable[str], folder: str) -> frozenset[str]:
    """Those of `files` that a repository around them ignores: the nearest one, and those around it up to the one of `folder`.

    Raises `ConfigError` for a file of patterns that is too large.
    """
    repositories: dict[str, Repository | None] = {}

    def at(root: str) -> Repository | None:
        if root not in repositories:
            repositories[root] = _repository(root)
        return repositories[root]

    outermost = next((found.root for each in _upward(os.path.realpath(folder)) if (found := at(each))), None)

    def around(place: str) -> list[Repository]:
        found = [each for above in _upward(place) if (each := at(above))]
        inside = [each for each in found if outermost is None or _lies_in(each.root, outermost)]
        return inside or found[:1]

    places = {file: os.path.split(os.path.abspath(file)) for file in files}
    real = {place: os.path.realpath(place) for place in {place for place, _ in places.values()}}
    asked = {place: around(place) for place in set(real.values())}
    return frozenset(
        file
        for file, (place, name) in places.items()
        if any(each.ignores(real[place], name) for each in asked[real[place]])
    )


class Repository:
    """The ignore files of the working tree `root`; `exclude` is the file of patterns that only this clone has."""

    def __init__(self, root: str, exclude: str) -> None:
        self.root = root
        self._exclude = _patterns(exclude, follow=True)
        self._rules: dict[Parts, list[Pattern]] = {}
        self._folders: dict[Parts, bool] = {(): False}

    def ignores(self, place: str, name: str) -> bool:
        """Whether the file `name` in the folder `place` is left out, itself or with a folder above it."""
        inside = os.fsencode(place[len(self.root) :]).split(os.fsencode(os.sep))
        parts = (*filter(None, inside), os.fsencode(name))
        return self._folder(parts[:-1]) or self._entry(parts, False)

    def _folder(self, parts: Parts) -> bool:
        found = self._folders.get(parts)
        if found is None:
            found = self._folders[parts] = self._folder(parts[:-1]) or self._entry(parts, True)
        return found

    def _entry(self, parts: Parts, is_folder: bool) -> bool:
        """The last pattern that fits decides, in the nearest file that has one."""
        for depth in range(len(parts) - 1, -1, -1):
            rules = self._rules_of(parts[:depth])
            if rules and (said := _verdict(rules, parts[depth:], is_folder)) is not None:
                return said
        return bool(_verdict(self._exclude, parts, is_folder))

    def _rules_of(self, folder: Parts) -> list[Pattern]:
        if folder not in self._rules:
            path = os.path.join(self.root, *map(os.fsdecode, folder), ".gitignore")
            self._rules[folder] = _patterns(path, follow=False)
        return self._rules[folder]


class Pattern(NamedTuple):
    """One line: what it says of what it fits. `name` fits a name in any folder; without one, `components` fit a path.

    A component is None for `**`.
    """

    ignores: bool
    folders_only: bool
    name: re.Pattern[bytes] | None
    components: tuple[re.Pattern[bytes] | None, ...]

    def fits(self, parts: Parts, is_folder: bool) -> bool:
        """Whether the pattern fits a path relative to the file it stands in."""
        if self.folders_only and not is_folder:
            return False
        if self.name is not None:
            return self.name.fullmatch(parts[-1]) is not None
        return _fits(self.components, parts)


def pattern(line: bytes) -> Pattern | None:
    """A line of an ignore file without its end; None for a comment, an empty line and what can fit nothing."""
    if line.startswith(b"#"):
        return None
    line = _without_spaces(line)
    ignores = not line.startswith(b"!")
    line = line if ignores else line[1:]
    folders_only = line.endswith(b"/")
    line = line[:-1] if folders_only else line
    tokens = _tokens(line)
    if not tokens:
        return None
    if b"/" not in line:
        return Pattern(ignores, folders_only, _regex(tokens), ())
    components: list[list[bytes]] = [[]]
    for token in tokens[1:] if tokens[0] == b"/" else tokens:
        if token == b"/":
            components.append([])
        else:
            components[-1].append(token)
    return Pattern(ignores, folders_only, None, tuple(None if _deep(each) else _regex(each) for each in components))


def _deep(tokens: list[bytes]) -> bool:
    """Whether a component stands for any number of folders: stars alone, two or more."""
    return len(tokens) > 1 and set(tokens) == {_STAR}


def _verdict(rules: list[Pattern], parts: Parts, is_folder: bool) -> bool | None:
    for each in reversed(rules):
        if each.fits(parts, is_folder):
            return each.ignores
    return None


def _fits(components: tuple[re.Pattern[bytes] | None, ...], parts: Parts) -> bool:
    """By the numbers of parts that the components up to here can cover, so that no `**` makes another one try again."""
    reached = {0}
    for index, component in enumerate(components):
        if component is None:
            least = min(reached) + (index == len(components) - 1)  # `a/**` fits what is in `a`, not `a`
            reached = set(range(least, len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and component.fullmatch(parts[at])}
        if not reached:
            return False
    return len(parts) in reached


def _tokens(line: bytes) -> list[bytes] | None:
    """Stars, slashes, and for all else a regular expression of one byte; None where an escape or a class has no end."""
    found = []
    at = 0
    while at < len(line):
        byte = line[at : at + 1]
        at += 1
        if byte == b"\\":
            if at == len(line):
                return None
            byte, at = line[at : at + 1], at + 1
            found.append(b"/" if byte == b"/" else re.escape(byte))
        elif byte == b"[":
            items = _class(line, at)
            if items is None:
                return None
            text, at = items
            found.append(text)
        else:
            found.append({b"*": _STAR, b"/": b"/", b"?": b"."}.get(byte) or re.escape(byte))
    return found


def _class(line: bytes, at: int) -> tuple[bytes, int] | None:
    """The expression for `[...]`, whose inside begins at `at`, and where it ends; None where it does not end."""
    negated = line[at : at + 1] in (b"!", b"^")
    start = at = at + negated
    items = b""
    low = b""  # what a range would begin with
    while at == start or line[at : at + 1] != b"]":
        if line[at : at + 2] == b"[:" and (end := line.find(b":]", at)) > at:
            items += _CLASSES.get(line[at + 2 : end].decode("latin-1"), b"")
            at, low = end + 2, b""
            continue
        is_range = line[at : at + 1] == b"-" and low and line[at + 1 : at + 2] not in (b"]", b"")
        at += bool(is_range)
        at += line[at : at + 1] == b"\\"
        high = line[at : at + 1]
        if not high:
            return None
        at += 1
        if not is_range:
            items, low = items + re.escape(high), high
        else:
            items += re.escape(low) + b"-" + re.escape(high) if low <= high else b""
            low = b""
    if not items:
        return b"." if negated else b"(?!)", at + 1
    return b"[" + b"^" * negated + items + b"]", at + 1


def _regex(tokens: list[bytes]) -> re.Pattern[bytes]:
    """The expression for a name. What stands between two stars is looked for once, from the left: nothing is tried again."""
    runs: list[list[bytes]] = [[]]
    for token in tokens:
        if token == _STAR:
            runs.append([])
        else:
            runs[-1].append(token)
    first, *others = [b"".join(run) for run in runs]
    if not others:
        return re.compile(first, re.DOTALL)
    middle = b"".join(b"(?>.*?%s)" % run for run in others[:-1] if run)
    return re.compile(first + middle + b".*" + others[-1], re.DOTALL)


def _without_spaces(line: bytes) -> bytes:
    """A line without the spaces at its end; one behind a backslash stays."""
    kept = line.rstrip(b" ")
    escaped = (len(kept) - len(kept.rstrip(b"\\"))) % 2
    return kept + b" " if escaped and kept != line else kept


def _patterns(path: str, follow: bool) -> list[Pattern]:
    """The patterns of a file, none where there is no regular file; a link only where it is to be followed, as git does."""
    data = _content(path, follow)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [each for line in lines if (each := pattern(line.removesuffix(b"\r"))) is not None]


def _content(path: str, follow: bool) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    try:
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return b""
            data = file.read(LARGEST + 1)
    except (OSError, ValueError):
        return b""
    if len(data) > LARGEST:
        raise ConfigError(f"{path}: more than {LARGEST} bytes of patterns (respect-gitignore)")
    return data


def _repository(root: str) -> Repository | None:
    """The repository whose working tree is the folder `root`, None where that is none."""
    place = os.path.join(root, ".git")
    if not os.path.lexists(place):
        return None
    if os.path.isfile(place):  # of a linked working tree or a submodule: the path of the folder
        said, _, named = _content(place, follow=True).partition(b": ")
        if said != b"gitdir":
            return None
        place = os.path.join(root, os.fsdecode(named.rstrip(b"\r\n")))
    shared = os.path.join(place, os.fsdecode(_content(os.path.join(place, "commondir"), follow=True).rstrip(b"\r\n")))
    parts = (os.path.join(place, "HEAD"), os.path.join(shared, "objects"), os.path.join(shared, "refs"))
    if not all(os.path.lexists(part) for part in parts):
        return None
    return Repository(root, os.path.join(shared, "info", "exclude"))


def _upward(folder: str) -> list[str]:
    return list(accumulate(folder.split(os.sep)[1:], os.path.join, initial=os.sep))[::-1]


def _lies_in(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder
