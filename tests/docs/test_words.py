"""The pages say what engineers say: words that need a second reading are in none of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RIDDLES = {
    r"\b(mended|mending)\b": "fix",
    r"\bnobody (calls|sees|sends|could)": "never called, cannot be determined",
    r"\bfor ever\b": "indefinitely, deadlock",
    r"so-manieth": "every n-th",
    r"\b(each|every|another|skip a) turn\b": "iteration",
    r"turns? of a loop": "iteration",
    r"number of turns": "number of iterations",
}
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_written_in_plain_words(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = {riddle: better for riddle, better in RIDDLES.items() if re.search(riddle, " ".join(text.split()))}
    assert not found
