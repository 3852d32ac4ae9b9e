"""What a process that checks one document again and again keeps between two checks: the project, and the modules it has run.

It is kept while nothing that was read for the last check has changed but the document itself, and nothing reads that one.
What was looked at is what the cache of `distml check` goes by (`Project.consulted`), the absent files too.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from distml.engine.environment import environment
from distml.engine.limits import limit_memory
from distml.engine.run import on_disk
from distml.source.files import Disk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from distml.engine.config import Config
    from distml.source.file import SourceFile
    from distml.source.project import Project

State = tuple[int, ...] | None
_RACY = 2_000_000_000
"""Nanoseconds before it was read in which a file may have changed twice without another time of change."""


class AskedAgainError(Exception):
    """The question is to be answered by a process of its own."""


class _Made(NamedTuple):
    """What a project was made of; with anything else it is another project."""

    folder: str
    config: Config
    installed: str
    shown: Mapping[str, str]
    others: Mapping[str, bytes]


class Kept:
    """The project of the checks of one document."""

    def __init__(self) -> None:
        self._made: _Made | None = None
        self._project: Project | None = None
        self._disk = Disk({})
        self._states: dict[str, State] = {}
        self._begun = 0
        self._memory: int | None = None

    def limit(self, mebibytes: int) -> None:
        """Let this process have so much memory. Raises `AskedAgainError` where it has another limit already."""
        if self._memory is None:
            self._memory = mebibytes
            limit_memory(mebibytes)
        elif self._memory != mebibytes:
            raise AskedAgainError

    def project(self, real: str, shown: Mapping[str, str], config: Config, overlay: Mapping[str, bytes]) -> Project:
        """The project for a check of the file `real`: the last one where that is as good as a new one."""
        others = {path: data for path, data in overlay.items() if path != real}
        made = _Made(os.getcwd(), config, repr(environment(config)), dict(shown), others)
        last, self._project = self._project, None
        self._begun = time.time_ns()
        if last is not None and made == self._made and self._unchanged() and last.forget(real):
            self._disk.replace(real, overlay[real])
            return last
        self._made, self._disk, self._states = made, Disk(overlay), {}
        return on_disk(shown, config, None, self._disk)

    def keep(self, real: str, source: SourceFile, project: Project) -> None:
        """Keep a project after a check that came to its end, with the states of what was read for it."""
        reached = project.consulted(source)
        paths = {path for location, probed in reached.items() for path in (location, *probed)} - {real}
        states = {path: _state(path) for path in paths if path not in self._states}
        self._states |= states  # also what only an earlier text imported: it may come back
        newest = self._begun - _RACY
        self._project = project if all(each is None or each[-1] < newest for each in states.values()) else None

    def _unchanged(self) -> bool:
        return all(_state(path) == state for path, state in self._states.items())


def _state(path: str) -> State:
    """What tells two contents of a path apart: None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mode, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
