"""Repositories made for tests: git without the settings of whoever runs it."""

from __future__ import annotations

import subprocess
from pathlib import Path

PERSON = ("A Person", "person@example.org")


def git(folder: Path, *arguments: str, data: str | None = None, who: tuple[str, str] = PERSON) -> str:
    """What git printed; fails where it does."""
    name, email = who
    settings = [
        f"user.name={name}",
        f"user.email={email}",
        "commit.gpgsign=false",
        "core.hooksPath=.git/hooks",
        "gc.auto=0",
    ]
    options = [part for each in settings for part in ("-c", each)]
    done = subprocess.run(
        ["git", *options, *arguments], cwd=folder, input=data, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
    return done.stdout.strip()
