"""Where the environments with Horovod are, which `.ci/horovod` makes."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "horovod"


def horovod_python(framework: str) -> str:
    """The Python that has Horovod for `framework`; where there is none, the test is not run.

    DISTML_HOROVOD_TENSORFLOW and DISTML_HOROVOD_TORCH name others.
    """
    given = os.environ.get(f"DISTML_HOROVOD_{framework.upper()}")
    if given:
        return given
    found = kept(framework)
    if found is None:
        pytest.skip(f"not run: needs Horovod for {framework} (.ci/horovod {framework})")
    return found


@cache
def kept(framework: str) -> str | None:
    """The environment in the cache, if it is complete."""
    asked = subprocess.run(
        [sys.executable, SCRIPT, "--where", framework], capture_output=True, text=True, timeout=60, check=False
    )
    python = Path(asked.stdout.strip() or "none")
    return str(python) if (python.parent.parent / ".complete").is_file() else None
