"""What may be in the place of a file, and all that can be seen of a folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

KINDS = (
    "absent",
    "file",
    "executable",
    "hard link",
    "link",
    "link out",
    "dangling",
    "folder",
    "fifo",
    "read-only",
    "shared out",
)
WRITABLE = ("absent", "file", "executable", "hard link", "link")


def put(place: Path, kind: str, inner: Path, outer: Path) -> None:
    """Something at a place; what it leads to is in one of the folders."""
    name = place.name
    if kind in ("file", "executable", "read-only"):
        place.write_bytes(b"old")
        place.chmod({"file": 0o640, "executable": 0o755, "read-only": 0o444}[kind])
    elif kind in ("hard link", "shared out", "link", "link out"):
        other = (outer if kind.endswith("out") else inner) / f"other-{name}"
        other.write_bytes(b"old")
        (place.hardlink_to if kind in ("hard link", "shared out") else place.symlink_to)(other)
    elif kind == "dangling":
        place.symlink_to(inner / f"nothing-{name}")
    elif kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """All there is to see in a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        what = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (stat.S_IFMT(status.st_mode), status.st_mode, status.st_nlink, what)
    return found
