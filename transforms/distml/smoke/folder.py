"""The folder in which a script runs: a copy of its own, so that nothing it writes lands in the user's tree.

Small files are copied; data files beyond a budget are linked, and so are readable in place.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

COPIED_FILE = 8 << 20
COPIED_TOTAL = 128 << 20
COPIED_COUNT = 5000
SKIPPED = {
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
}


def copy_of(source: Path, target: Path, replaced: dict[str, str]) -> None:
    """Make `target` look like the folder `source`, with the text of the relative paths `replaced` in place of theirs."""
    copied = total = 0
    for folder, names, files in os.walk(source):
        names[:] = sorted(name for name in names if name not in SKIPPED and not Path(folder, name).is_symlink())
        here = target / Path(folder).relative_to(source)
        here.mkdir(parents=True, exist_ok=True)
        for name in sorted(files):
            path, place = Path(folder, name), here / name
            size = path.lstat().st_size if path.is_file() else 0
            if copied < COPIED_COUNT and size <= COPIED_FILE and total + size <= COPIED_TOTAL and path.is_file():
                shutil.copyfile(path, place)
                copied, total = copied + 1, total + size
            else:
                place.symlink_to(path.resolve())
    for name, text in replaced.items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_text(text, encoding="utf-8")
