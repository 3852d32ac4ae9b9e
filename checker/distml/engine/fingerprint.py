"""Identities that decide whether a remembered result still holds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from hashlib import blake2b
from importlib.util import find_spec

from distml.diagnostics.version import VERSION
from distml.engine.config import Config

FORMAT = "2"


def run_fingerprint(config: Config, folder: str) -> str:
    """What a result depends on besides files: distml, Python, settings that change results, the working folder.

    And whether there is a mypy, which tells the data types of choreographies.
    """
    settings = (*config.src, str(config.max_file_size), folder)
    parts = (FORMAT, VERSION, sys.version, *own_files(), *settings, str(find_spec("mypy") is not None))
    return digest("\0".join(parts).encode("utf-8", "surrogateescape"))


def own_files() -> Iterator[str]:
    """Name, size and time of change of distml's own modules, so that working on distml never shows old results."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    waiting = [here]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    yield f"{entry.name}:{status.st_size}:{status.st_mtime_ns}"
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)


def digest(data: bytes) -> str:
    """A short content hash."""
    return blake2b(data, digest_size=16).hexdigest()
