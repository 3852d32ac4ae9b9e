"""Where the environments are that `.ci/horovod` and `.ci/jax` make."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

CI = Path(__file__).parents[2] / ".ci"
SCRIPT = CI / "horovod"


def horovod_python(framework: str) -> str:
    """The Python that has Horovod for `framework`; where there is none, the test is not run.

    DISTML_HOROVOD_TENSORFLOW and DISTML_HOROVOD_TORCH name others.
    """
    given = os.environ.get(f"DISTML_HOROVOD_{framework.upper()}")
    if given:
        return given
    found = kept(SCRIPT, framework)
    if found is None:
        pytest.skip(f"not run: needs Horovod for {framework} (.ci/horovod {framework})")
    return found


def jax_python() -> str:
    """The Python that has JAX and Flax; where there is none, the test is not run. DISTML_JAX names another."""
    found = os.environ.get("DISTML_JAX") or kept(CI / "jax")
    if found is None:
        pytest.skip("not run: needs JAX (.ci/jax)")
    return found


@cache
def kept(script: Path, *which: str) -> str | None:
    """The environment in the cache, if it is complete."""
    asked = subprocess.run(
        [sys.executable, script, "--where", *which], capture_output=True, text=True, timeout=60, check=False
    )
    python = Path(asked.stdout.strip() or "none")
    return str(python) if (python.parent.parent / ".complete").is_file() else None
