"""Remembers the result of each file across runs.

An entry is one JSON file under the user's cache folder. It holds as long as the file, all paths its result depended on
(those that were absent too), distml and the settings are what they were. Entries are written atomically, a damaged one is
as good as none, and each of the 256 folders keeps a bounded number of the newest.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from distml.engine.config import Config
from distml.engine.fingerprint import States, digest, run_fingerprint
from distml.engine.results import FileResult, decode, encode

ENTRIES_A_FOLDER = 64
LARGEST_ENTRY = 1024 * 1024
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Results of distml, safe to delete.\n"


def default_folder() -> str:
    """`$DISTML_CACHE_DIR`, else `distml` in `$XDG_CACHE_HOME`, else in `~/.cache`."""
    given = os.environ.get("DISTML_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return given or os.path.join(base, "distml")


class Cache:
    """Results under `folder` for one run with one configuration."""

    def __init__(self, folder: str, config: Config) -> None:
        working = os.getcwd()
        self._folder = folder
        self._stamp = run_fingerprint(config, working)
        self._working = working
        self._states = States(config.max_file_size)

    def get(self, path: str) -> FileResult | None:
        """The remembered result for `path` if it still holds."""
        try:
            with open(self._entry(path), "rb") as file:
                stamp, content, consulted, plain = json.loads(file.read(LARGEST_ENTRY + 1))
            if stamp != self._stamp or content != self._states[self._absolute(path)]:
                return None
            if any(self._states[each] != state for each, state in consulted.items()):
                return None
            return decode(plain)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return None

    def put(self, path: str, result: FileResult) -> None:
        """Remember a result; does nothing where the folder cannot be written."""
        if not result.lasting:
            return
        consulted = {each: self._states[each] for each in result.consulted}
        entry = [self._stamp, self._states[self._absolute(path)], consulted, encode(result)]
        data = json.dumps(entry, separators=(",", ":")).encode()
        if len(data) <= LARGEST_ENTRY:
            with suppress(OSError):
                self._write(self._entry(path), data)

    def _absolute(self, path: str) -> str:
        return os.path.realpath(os.path.join(self._working, path))

    def _entry(self, path: str) -> str:
        name = digest(f"{self._working}\0{path}".encode("utf-8", "surrogateescape"))
        return os.path.join(self._folder, name[:2], name[2:])

    def _write(self, entry: str, data: bytes) -> None:
        folder = os.path.dirname(entry)
        if not os.path.isdir(folder):
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(self._folder, "CACHEDIR.TAG"), "w", encoding="utf-8") as tag:
                tag.write(_TAG)
        partial = f"{entry}.{os.getpid()}"
        try:
            with open(partial, "wb") as file:
                file.write(data)
            os.replace(partial, entry)
        except OSError:
            with suppress(OSError):
                os.unlink(partial)
            raise
        _bound(folder)


def _bound(folder: str) -> None:
    """Drop the oldest quarter of a folder that holds too many entries."""
    with os.scandir(folder) as found:
        entries = list(found)
    if len(entries) > ENTRIES_A_FOLDER:
        ages = sorted((entry.stat().st_mtime_ns, entry.path) for entry in entries)
        for _, path in ages[: ENTRIES_A_FOLDER // 4]:
            os.unlink(path)
