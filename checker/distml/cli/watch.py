"""`distml check --watch`: check again whenever a file changes, until interrupted."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace

from distml.cli.outcome import check
from distml.engine.config import Config
from distml.engine.discovery import discover
from distml.report.printing import plain

INTERVAL = 0.5  # seconds between two looks at the files


def watch(paths: list[str], config: Config, options: Namespace) -> int:
    """Check now and after every change; returns when interrupted, by `KeyboardInterrupt`."""
    seen: dict[str, tuple[int, int]] | None = None
    while True:
        now = states(paths, config)
        if now != seen:
            seen = now
            if sys.stdout.isatty():
                plain(sys.stdout).write("\x1b[2J\x1b[H")
            check(paths, config, options)
            sys.stdout.flush()
        time.sleep(INTERVAL)


def states(paths: list[str], config: Config) -> dict[str, tuple[int, int]]:
    """Size and time of change of every file under `paths`."""
    found = {}
    for path in discover(paths, config).files:
        try:
            status = os.stat(path)
        except OSError:
            continue
        found[path] = (status.st_size, status.st_mtime_ns)
    return found
