"""Pages under docs/ that are written from the source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Compare = Callable[[Path, str], None]


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Compare:
    """Holds a page to its text; with `--update-docs`, writes it first."""

    def same(path: Path, text: str) -> None:
        if request.config.getoption("--update-docs"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        assert path.is_file() and path.read_text("utf-8") == text, "run `make docs`"

    return same
