"""The calls that make objects of git, which GitHub signs. https://docs.github.com/rest/git

An object belongs to no branch until one is put there; making it again changes nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import NamedTuple

from distml.github.rest import Api


class Entry(NamedTuple):
    """A file that differs from the tree below it: where it is, its mode, and the object with its content."""

    path: str
    mode: str
    blob: str


class Made(NamedTuple):
    """A commit that GitHub made; `why_not` says why it does not show as verified, and is empty where it does."""

    id: str
    why_not: str


class Objects:
    """The objects of the repository `owner/name`."""

    def __init__(self, api: Api, owner: str, name: str) -> None:
        self._api = api
        self._home = ("repos", owner, name, "git")

    def blob(self, content: bytes) -> str:
        """A file's content; its object."""
        given = {"content": base64.b64encode(content).decode("ascii"), "encoding": "base64"}
        return str(self._api.add(*self._home, "blobs", body=given)["sha"])

    def tree(self, base: str, entries: Sequence[Entry]) -> str:
        """The tree `base` with other files in it; its object."""
        files = [{"path": each.path, "mode": each.mode, "type": "blob", "sha": each.blob} for each in entries]
        return str(self._api.add(*self._home, "trees", body={"base_tree": base, "tree": files})["sha"])

    def commit(self, message: str, tree: str, parent: str) -> Made:
        """A commit by whom the token belongs to. GitHub signs those of a job or an app, and not those of a person."""
        given = {"message": message, "tree": tree, "parents": [parent]}
        found = self._api.add(*self._home, "commits", body=given)
        verification = found.get("verification") or {}
        why_not = "" if verification.get("verified") else str(verification.get("reason") or "unsigned")
        return Made(str(found["sha"]), why_not)
