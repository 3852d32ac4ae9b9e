"""The blocks of the pages under docs/, and their commands in a shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(page: str, kind: str) -> list[str]:
    """The fenced blocks of docs/`page` with exactly this info string."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shell(commands: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run commands in a shell in which `python` and `distml` are those of this run."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
