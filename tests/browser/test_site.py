"""The documentation site in a real browser: pages do not complain, ask no other host and fit a phone; the search finds, and
diagrams are drawn."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from delivery.pages import fenced

if TYPE_CHECKING:
    from browser.chromium import Browser

pytestmark = pytest.mark.requires("selenium", "chromium", "chromedriver", "mkdocs", "material", "npm")

ALIKE = ("rules/", "ops/")
"""Folders whose pages are made of one form: one of each is opened, and their index."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing is said of requests."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from docs.site import built

    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the built site is served, under the path that it was built for."""
    (site.parent / "distml").symlink_to(site)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site.parent)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/distml/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_no_page_complains_or_leaves_the_site(browser: Browser, site: Path, address: str) -> None:
    from browser.chromium import DESKTOP, PHONE

    pages = sorted(path.relative_to(site).as_posix().removesuffix("index.html") for path in site.rglob("*.html"))
    opened = [
        page
        for place, page in enumerate(pages)
        if not page.startswith(ALIKE) or pages[place - 1].partition("/")[0] != page.partition("/")[0] or place % 20 == 0
    ]
    assert len(opened) > 30
    wrong = {}
    for place, page in enumerate(opened):
        browser.open(address + page, (PHONE, DESKTOP)[place % 2], dark=place % 4 > 1)
        elsewhere = [each for each in browser.requests() if not each.startswith(address)]
        found = [*browser.complaints(), *elsewhere, *["too wide"] * (browser.too_wide() > 0)]
        wrong.update({page: found} if found else {})
    assert wrong == {}


def test_the_search_finds_a_page_and_leads_to_it(browser: Browser, address: str) -> None:
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    browser.open(address)
    browser.driver.find_element("css selector", "input.md-search__input").click()
    browser.press(*"matmul-mismatch")
    found = ".md-search-result__item a[href*='shp101' i]"
    WebDriverWait(browser.driver, 20).until(lambda driver: driver.find_elements("css selector", found))
    browser.press(Keys.ENTER)
    WebDriverWait(browser.driver, 20).until(lambda driver: "shp101" in driver.current_url.lower())
    assert browser.complaints() == []


def test_the_site_is_dark_for_those_who_prefer_it(browser: Browser, address: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    for dark, scheme in ((True, "slate"), (False, "default")):
        browser.open(address, dark=dark)
        shown = f"return document.body.dataset.mdColorScheme === '{scheme}'"
        WebDriverWait(browser.driver, 20).until(lambda driver, shown=shown: driver.execute_script(shown))


def test_diagrams_are_drawn(browser: Browser, address: str) -> None:
    """In the place of their text, by the copy of Mermaid that the site has; as large on a phone as fits."""
    from browser.chromium import DESKTOP, PHONE
    from selenium.webdriver.support.ui import WebDriverWait

    (text,) = (body for info, body in fenced("docs/draw.md") if info.startswith("mermaid"))
    for size in (DESKTOP, PHONE):
        browser.open(f"{address}draw/", size)
        WebDriverWait(browser.driver, 20).until(lambda driver: driver.find_elements("css selector", "div.mermaid"))
        assert browser.ask("return document.querySelectorAll('pre.mermaid').length") == 0
        width, height = browser.ask(
            "const box = document.querySelector('div.mermaid').getBoundingClientRect(); return [box.width, box.height]"
        )
        assert 100 < width <= size[0] and height > 300
        tree = json.dumps(browser.driver.execute_cdp_cmd("DOM.getDocument", {"depth": -1, "pierce": True}))
        assert "<svg" not in text and '"nodeName": "svg"' in tree
        for words in ("stem: Conv2d", "block: Block", "[8, 16, 112, 112]"):
            assert words in text and f'"nodeValue": "{words}"' in tree
        assert browser.complaints() == [] and browser.too_wide() <= 0


def test_pages_without_diagrams_load_no_library_for_them(browser: Browser, address: str) -> None:
    browser.open(f"{address}usage/")
    assert not any("mermaid" in each for each in browser.requests())
