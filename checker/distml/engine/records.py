"""Records of what results depend on, shared between the results of many files.

A record belongs to one source file: the states of that file and of every path that was looked at to resolve its imports,
the absent ones too. Its name is the hash of its content. A result names the records of all files reached from its file;
it holds while each of them does. Workers write records as they go; writing one twice does no harm.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable

from distml.engine.store import Store
from distml.source.hashing import content_hash


class States:
    """The states of paths, each looked at once a run: the hash of a file's content, `folder`, or `absent`."""

    def __init__(self, max_file_size: int) -> None:
        self._limit = max_file_size
        self._known: dict[str, str] = {}

    def __getitem__(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = self._look(path)
        return self._known[path]

    def _look(self, path: str) -> str:
        try:
            status = os.stat(path)
            if stat.S_ISDIR(status.st_mode):
                return "folder"
            if not stat.S_ISREG(status.st_mode) or status.st_size > self._limit:
                return f"other:{status.st_size}:{status.st_mtime_ns}"
            with open(path, "rb") as file:
                return content_hash(file.read())
        except (OSError, ValueError):
            return "absent"


class Records:
    """Writes records to a store and tells which of those there still hold."""

    def __init__(self, store: Store, states: States) -> None:
        self._store = store
        self._states = states
        self._written: dict[str, tuple[int, str]] = {}
        self._holds: dict[str, bool] = {}

    def write(self, location: str, probed: Iterable[str], number: int) -> str:
        """The name of the record of a file for which `number` paths were looked at (they only ever get more)."""
        known = self._written.get(location)
        if known is None or known[0] != number:
            states = {path: self._states[path] for path in sorted({location, *probed})}
            data = json.dumps(states, separators=(",", ":")).encode()
            known = self._written[location] = (number, content_hash(data))
            if not self._store.has(known[1]):
                self._store.write(known[1], data)
        return known[1]

    def hold(self, names: Iterable[str]) -> bool:
        """Whether nothing in these records has changed."""
        return all(self._hold(name) for name in names)

    def _hold(self, name: str) -> bool:
        if name not in self._holds:
            self._holds[name] = self._look(name)
        return self._holds[name]

    def _look(self, name: str) -> bool:
        data = self._store.read(name)
        if data is None:
            return False
        if content_hash(data) != name:
            self._store.drop(name)
            return False
        states: dict[str, str] = json.loads(data)
        return all(self._states[path] == state for path, state in states.items())
