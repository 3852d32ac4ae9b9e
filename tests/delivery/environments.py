"""Environments of their own, quickly made: pip is lent to them, since installing it takes longer than most of what is tested."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path


def environment(folder: Path) -> Path:
    """A new environment that has pip alone; the folder of its packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    # Asking all finders for pip would keep setuptools from its own distutils in this process for good.
    found = PathFinder.find_spec("pip")
    assert found is not None and found.origin is not None
    (packages / "pip").symlink_to(Path(found.origin).parent)
    return packages
