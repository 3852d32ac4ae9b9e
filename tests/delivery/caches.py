"""GitHub's caches in a folder: by key, by prefix, and by branch, as documented under "Dependency caching reference"."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """A cache that was saved."""

    scope: str
    key: str
    version: str
    archive: Path


class Caches:
    """All caches of a repository, seen from a run on the ref `scope` that is based on the refs `around`."""

    def __init__(self, folder: Path, scope: str = "refs/heads/main", around: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self._scopes = (scope, *around)
        self.entries: list[Entry] = []

    def seen_from(self, scope: str, *around: str) -> Caches:
        """The same caches for a run on another ref, such as `refs/pull/7/merge` that is based on `refs/heads/main`."""
        other = Caches(self._folder, scope, around)
        other.entries = self.entries
        return other

    def save(self, path: str, key: str) -> bool:
        """Keep a folder, where there is none with this key yet: what is kept is never changed."""
        assert key, "a cache has a key"
        assert len(key) <= 512
        assert "," not in key
        version = hashlib.sha256(path.encode()).hexdigest()
        if not Path(path).exists() or any(each[:3] == (self._scopes[0], key, version) for each in self.entries):
            return False
        self._folder.mkdir(exist_ok=True)
        archive = self._folder / f"{len(self.entries)}.tar"
        subprocess.run(["tar", "-P", "-cf", str(archive), path], check=True)
        self.entries.append(Entry(self._scopes[0], key, version, archive))
        return True

    def restore(self, path: str, key: str, prefixes: list[str]) -> str | None:
        """Put a kept folder back: that with the key, else the newest with a prefix; in this branch, then in those around.
        Its key, None where there is none."""
        version = hashlib.sha256(path.encode()).hexdigest()
        for scope in self._scopes:
            mine = [each for each in reversed(self.entries) if (each.scope, each.version) == (scope, version)]
            found = [each for each in mine if each.key == key]
            for prefix in filter(None, map(str.strip, prefixes)):
                found += [each for each in mine if each.key.startswith(prefix)]
            if found:
                subprocess.run(["tar", "-P", "-xf", str(found[0].archive)], check=True)
                return found[0].key
        return None
