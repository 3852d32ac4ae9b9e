"""Path patterns of the configuration: `build`, `*.egg-info`, `tests/data/**`."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase


def matches(path: str, pattern: str, folder: str) -> bool:
    """Whether `path` fits `pattern`, which is relative to `folder`.

    A pattern without `/` fits any one component of the path; one with `/` fits the path from `folder` on, or a folder
    that contains it.
    """
    inside = os.path.relpath(os.path.abspath(path), os.path.abspath(folder)).replace(os.sep, "/")
    parts = [part for part in inside.split("/") if part not in ("..", ".")]
    pattern = pattern.removeprefix("./").rstrip("/")
    if "/" not in pattern:
        return any(fnmatchcase(part, pattern) for part in parts)
    return any(fnmatchcase("/".join(parts[:length]), pattern) for length in range(1, len(parts) + 1))
