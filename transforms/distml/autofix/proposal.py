"""What is to be changed and why: the one thing that goes from computing fixes to publishing them.

Computing may have run code of the repository (a smoke run), so whoever reads a proposal believes nothing in it: sizes
are bounded, only Python files that the base has already are replaced, and all texts are shown as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

VERSION = 1
FILES = 1000
FILE_BYTES = 2 * 1024 * 1024
ALL_BYTES = 32 * 1024 * 1024
TEXT = 4000
NOTES = 10_000
LARGEST = 2 * ALL_BYTES
"""Bytes of a proposal as it is handed over, most of them base64."""
OBJECTS = 32 * 1024 * 1024
"""Bytes that its lists, objects and values may take beside the text: JSON can grow to 24 times its length, `{}` by `{}`."""
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class ProposalError(Exception):
    """A proposal is not what it should be; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One edit: its line in the file as it was, what was done, why, and the rule behind it."""

    line: int
    what: str
    why: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Left:
    """Something that was asked for and left as it is."""

    path: str
    line: int
    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class Smoked:
    """How a run of a changed script went."""

    path: str
    verdict: str
    said: str


@dataclass(frozen=True, slots=True)
class Change:
    """The new content of a file; `before` is the object that git has for the old one."""

    path: str
    before: str
    after: bytes
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """All changes to the files of the commit `base`."""

    base: str
    changes: tuple[Change, ...] = ()
    left: tuple[Left, ...] = ()
    smoked: tuple[Smoked, ...] = ()

    @property
    def key(self) -> str:
        """The same for proposals that do the same to the same files, wherever in them."""
        parts = sorted((c.path, r.rule, r.what) for c in self.changes for r in c.reasons)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]

    def only(self, paths: frozenset[str]) -> Proposal:
        """The part that concerns these files."""
        return replace(
            self,
            changes=tuple(each for each in self.changes if each.path in paths),
            smoked=tuple(each for each in self.smoked if each.path in paths),
        )


def encode(proposal: Proposal) -> str:
    """A proposal as JSON."""
    plain = asdict(proposal)
    for change, each in zip(plain["changes"], proposal.changes):
        change["after"] = base64.b64encode(each.after).decode()
    return json.dumps({"version": VERSION, **plain}, indent=1)


def decode(text: str) -> Proposal:
    """The proposal that was encoded. Raises `ProposalError` for anything that is none, before much is made of it."""
    if len(text) > LARGEST or 88 * (text.count("{") + text.count("[")) + 64 * text.count(",") > OBJECTS:
        raise ProposalError("not a proposal: too large")
    try:
        plain = json.loads(text)
        if plain["version"] != VERSION:
            raise ProposalError(f"written for version {plain['version']!r} of this format, not {VERSION}")
        proposal = Proposal(
            _object(plain["base"]),
            tuple(map(_change, _some(plain["changes"], FILES))),
            tuple(
                Left(_text(e["path"]), int(e["line"]), _text(e["rule"]), _text(e["why"])) for e in _notes(plain, "left")
            ),
            tuple(Smoked(_text(e["path"]), _text(e["verdict"]), _text(e["said"])) for e in _notes(plain, "smoked")),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ProposalError(f"not a proposal: {type(error).__name__} {error}") from None
    paths = [change.path for change in proposal.changes]
    if len(set(paths)) < len(paths):
        raise ProposalError("a file is changed twice")
    if sum(len(change.after) for change in proposal.changes) > ALL_BYTES:
        raise ProposalError(f"more than {ALL_BYTES} bytes")
    return proposal


def checked_path(path: str) -> str:
    """`path` if it may be changed: a Python file inside the repository, not one of its workflows.

    Raises `ProposalError`.
    """
    if not is_inside(path) or path.lower().startswith(".github/") or not path.endswith(".py"):
        raise ProposalError(f"{path!r} is no Python file that may be changed")
    return path


def is_inside(path: str) -> bool:
    """Whether a path, as git writes it, stays inside the repository and out of git's own folder."""
    return "\0" not in path and not any(part.lower() in ("", ".", "..", ".git") for part in path.split("/"))


def below(path: str, wanted: Sequence[str]) -> bool:
    """Whether a path of the repository is one of those wanted or lies below one."""
    folders = [os.path.normpath(each) for each in wanted]
    return any(each in (".", path) or path.startswith(each + "/") for each in folders)


def _change(plain: Any) -> Change:
    after = base64.b64decode(plain["after"], validate=True)
    if len(after) > FILE_BYTES:
        raise ProposalError(f"a file of more than {FILE_BYTES} bytes")
    reasons = tuple(
        Reason(int(e["line"]), _text(e["what"]), _text(e["why"]), _text(e["rule"]))
        for e in _some(plain["reasons"], NOTES)
    )
    return Change(checked_path(_text(plain["path"])), _object(plain["before"]), after, reasons)


def _object(plain: Any) -> str:
    if not isinstance(plain, str) or not _OBJECT.fullmatch(plain):
        raise ProposalError(f"{plain!r:.60} is no object of git")
    return plain


def _notes(plain: Any, name: str) -> list[Any]:
    return _some(plain[name], NOTES)


def _some(plain: Any, limit: int) -> list[Any]:
    if not isinstance(plain, list) or len(plain) > limit:
        raise ProposalError(f"a list of at most {limit} items was expected")
    return plain


def _text(plain: Any) -> str:
    if not isinstance(plain, str):
        raise ProposalError("a text was expected")
    return plain if len(plain) <= TEXT else plain[: TEXT - 3] + "..."
