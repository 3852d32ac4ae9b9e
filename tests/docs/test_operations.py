"""The pages of docs/ops list what is registered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from distml.ops.registry import homes
from distml.report.catalog import catalog

DOCS = Path(__file__).parents[2] / "docs" / "ops"
PAGES = catalog()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str, compare: Callable[[Path, str], None]) -> None:
    compare(DOCS / f"{name}.md", PAGES[name])


def test_there_are_no_other_pages() -> None:
    assert {path.stem for path in DOCS.glob("*.md")} == set(PAGES)


def test_every_name_is_listed_under_its_namespace() -> None:
    text = "".join(PAGES.values())
    for name in homes():
        space, _, member = name.rpartition(".")
        assert any(f"`{member}`" in line for line in text.splitlines() if line.startswith(f"- {space}: ")), name
