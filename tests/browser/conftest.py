"""One browser for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser.chromium import Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    from browser.chromium import chromium

    with chromium(tmp_path_factory.mktemp("chromium")) as started:
        yield started
