"""Remembers the result of each file across runs.

A result holds as long as the file, everything it depends on (`distml.engine.records`), distml and the settings are what
they were. A damaged entry is as good as none.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from distml.engine.config import Config
from distml.engine.fingerprint import run_fingerprint
from distml.engine.records import Records, States
from distml.engine.results import FileResult, decode, encode
from distml.engine.selection import WHOLE, parts
from distml.engine.store import Store
from distml.source.hashing import content_hash

if TYPE_CHECKING:
    from distml.source.file import SourceFile
    from distml.source.project import Project


class Cache:
    """Results under `folder` for one run with one configuration."""

    def __init__(self, folder: str, config: Config) -> None:
        self._working = os.getcwd()
        asked = parts(config)
        self._partly = "" if asked == WHOLE else ",".join(sorted(asked))
        self._stamp = run_fingerprint(config, self._working, Store(os.path.join(folder, "own"), bound=4))
        self._states = States(config.max_file_size)
        self._results = Store(os.path.join(folder, "results"))
        self._records = Records(Store(os.path.join(folder, "records")), self._states)

    def get(self, path: str) -> FileResult | None:
        """The remembered result for `path` if it still holds."""
        whole = self._remembered(path, "")  # the result of all parts answers for each
        return whole if whole is not None or not self._partly else self._remembered(path, self._partly)

    def _remembered(self, path: str, partly: str) -> FileResult | None:
        data = self._results.read(self._name(path, partly))
        if data is None:
            return None
        try:
            stamp, content, plain = json.loads(data)
            if stamp != self._stamp or content != self._content(path):
                return None
            result = decode(plain)
            return result if self._records.hold(result.consulted) else None
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None

    def put(self, path: str, result: FileResult) -> None:
        """Remember a result."""
        if result.lasting:
            entry = [self._stamp, self._content(path), encode(result)]
            self._results.write(self._name(path, self._partly), json.dumps(entry, separators=(",", ":")).encode())

    def trace(self, source: SourceFile, project: Project) -> tuple[str, ...]:
        """Write down what the result for `source` depends on; the names of the records."""
        reached = project.consulted(source)
        return tuple(sorted(self._records.write(file, probed, len(probed)) for file, probed in reached.items()))

    def _content(self, path: str) -> str:
        return self._states[os.path.realpath(os.path.join(self._working, path))]

    def _name(self, path: str, partly: str) -> str:
        return content_hash(f"{self._working}\0{path}\0{partly}".encode("utf-8", "surrogateescape"))
