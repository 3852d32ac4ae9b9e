"""Identities that decide whether a remembered result still holds."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from distml.diagnostics.version import VERSION
from distml.engine.config import Config
from distml.engine.store import Store
from distml.source.hashing import content_hash

FORMAT = "2"
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_DIGEST = re.compile(rb"[0-9a-f]{32}")


def run_fingerprint(config: Config, folder: str, known: Store) -> str:
    """What a result depends on besides files: distml, Python, settings that change results, the working folder, where
    installed packages lie.

    And whether there is a mypy, which tells the data types of choreographies.
    """
    from distml.engine.environment import environment

    settings = (*config.src, str(config.max_file_size), folder, repr(environment(config)), str(config.tracked))
    parts = (FORMAT, VERSION, sys.version, own_content(known), *settings, str(find_spec("mypy") is not None))
    return content_hash("\0".join(parts).encode("utf-8", "surrogateescape"))


def own_content(known: Store) -> str:
    """A hash of the content of distml's own modules, so that working on distml never shows old results, and installing it
    anew keeps them. `known` has it by the modules' sizes and times of change: reading them takes longer than a run."""
    files = dict(own_files(HERE))
    stamp = content_hash("\0".join((HERE, *map(":".join, files.items()))).encode("utf-8", "surrogateescape"))
    kept = known.read(stamp) or b""
    if not _DIGEST.fullmatch(kept):
        kept = content_hash(b"\0".join(_content(name) for name in files)).encode()
        known.write(stamp, kept)
    return kept.decode()


def own_files(here: str) -> Iterator[tuple[str, str]]:
    """The modules below `here`, each with its size and time of change."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        with os.scandir(os.path.join(here, folder)) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                name = os.path.join(folder, entry.name)
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    yield name, f"{status.st_size}:{status.st_mtime_ns}"
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(name)


def _content(name: str) -> bytes:
    with open(os.path.join(HERE, name), "rb") as file:
        return f"{name}\0{content_hash(file.read())}".encode("utf-8", "surrogateescape")
