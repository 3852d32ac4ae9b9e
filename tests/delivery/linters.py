"""The linters of actions and workflows: zizmor, and the schemas that GitHub gives out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent


def lint(path: Path, schema: str) -> None:
    """Fails where one of them finds something."""
    for command in (
        [str(BIN / "zizmor"), "--offline", "--no-progress", "--persona", "pedantic", str(path)],
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
