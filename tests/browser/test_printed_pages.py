"""The pages that `draw` and `shapes` print, in a real browser: they fold, lead to lines, ask for nothing, and can be read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from delivery.pages import blocks, shell

if TYPE_CHECKING:
    from browser.chromium import Browser

pytestmark = pytest.mark.requires("selenium", "chromium", "chromedriver")

FAILS = """\
import torch
from torch import nn


class Wrong(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.ReLU(), nn.Linear(8, 8)))
        self.head = nn.Linear(9, 2)

    def forward(self, x):
        for _ in range(int(x.sum())):
            x = self.body(x) + x
        return self.head(x)  # </script><img src="https://example.org/x.png">
"""
PAGES = {
    "draw": "distml draw residual.py --format html",
    "draw-fails": "distml draw fails.py::Wrong --format html --input 'x: float[b, 8]'",
    "shapes": "distml shapes attention.py --format html",
    "shapes-fails": "distml shapes fails.py::Wrong --format html --input 'x: float[b, 8]'",
    "shapes-layers": "distml shapes lenet.py::LeNet --format html --input 'x: float[8, 3, 32, 32]'",
}
ENDS = """
const shown = element => {
  for (let up = element.parentElement; up; up = up.parentElement)
    if (up.tagName === "DETAILS" && !up.open) element = up.querySelector("summary");
  return element;
};
const wanted = new Set(), drawn = new Set(), near = (y, x, to) => to.find(each => {
  const box = each.getBoundingClientRect();
  return box.top <= y && y <= box.bottom && Math.abs(box.left - x) < 12;
});
const all = [...document.querySelectorAll(".node, summary")].filter(each => each.checkVisibility());
const number = element => all.indexOf(element);
for (const link of document.querySelectorAll("a[data-from]")) {
  const ends = [shown(document.getElementById(link.dataset.from)), shown(link.closest(".node"))].map(number);
  if (ends[0] !== ends[1]) wanted.add(ends.join());
}
for (const path of document.querySelectorAll(".graph path")) {
  const top = path.ownerSVGElement.getBoundingClientRect();
  const [x1, y1, , , , , x2, y2] = path.getAttribute("d").match(/[-\\d.]+/g).map(Number);
  drawn.add([near(top.top + y1, top.left + x1, all), near(top.top + y2, top.left + x2, all)].map(number).join());
}
return [[...wanted].sort(), [...drawn].sort()];
"""
"""The edges that the visible nodes and folded modules have, and those that are drawn between their places on the screen."""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages."""
    folder = tmp_path_factory.mktemp("pages")
    for page, name in (("draw.md", "residual.py"), ("shapes.md", "attention.py"), ("shapes.md", "lenet.py")):
        (folder / name).write_text(blocks(page, f"py {name}")[0], "utf-8")
    (folder / "fails.py").write_text(FAILS, "utf-8")
    for name, command in PAGES.items():
        done = shell(f"{command} > {name}.html", folder)
        assert done.returncode == int("fails" in name), done.stderr
    return folder


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", ["DESKTOP", "PHONE"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_and_asks_for_nothing(
    browser: Browser, printed: Path, name: str, size: str, dark: bool
) -> None:
    from browser import chromium

    address = (printed / f"{name}.html").as_uri()
    browser.open(address, getattr(chromium, size), dark)
    assert browser.complaints() == []
    assert browser.requests() == [address]
    assert browser.too_wide() <= 0
    assert browser.pale() == []
    background = browser.ask("return matchMedia('(prefers-color-scheme: dark)').matches")
    assert background is dark


@pytest.mark.parametrize("name", ["draw", "draw-fails"])
def test_edges_join_what_is_shown_however_it_is_folded(browser: Browser, printed: Path, name: str) -> None:
    browser.open((printed / f"{name}.html").as_uri())
    wanted, drawn = browser.ask(ENDS)
    assert len(wanted) > 3 and drawn == wanted
    whole = len(wanted)
    summaries = browser.driver.find_elements("tag name", "summary")
    assert summaries
    for each in reversed(summaries):  # inner ones first: each is visible then
        each.click()
        wanted, drawn = _settled(browser)
        assert drawn == wanted
    assert len(wanted) < whole
    browser.driver.find_element("css selector", "button[data-open='1']").click()
    wanted, drawn = _settled(browser)
    assert len(wanted) == whole and drawn == wanted
    browser.driver.find_element("css selector", "button[data-open='0']").click()
    assert browser.ask("return document.querySelectorAll('details[open]').length") == 0


def test_links_lead_to_lines_and_nodes(browser: Browser, printed: Path) -> None:
    browser.open((printed / "draw.html").as_uri(), (1280, 300))
    for link in browser.driver.find_elements("css selector", ".node a"):
        if link.is_displayed():
            link.click()
            assert _in_sight(browser, ":target"), link.get_attribute("href")
    assert browser.requests() == [(printed / "draw.html").as_uri()]


def test_a_node_in_a_folded_module_is_shown_by_a_link_to_it(browser: Browser, printed: Path) -> None:
    """As the link of `mean` to the last call in the block."""
    browser.open((printed / "draw.html").as_uri())
    browser.driver.find_element("css selector", "button[data-open='0']").click()
    browser.driver.find_element("link text", "relu").click()
    assert _in_sight(browser, ":target")


def test_the_keyboard_folds_follows_and_lights_up(browser: Browser, printed: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open((printed / "draw.html").as_uri())
    focused = "return document.activeElement.tagName + ' ' + document.activeElement.textContent"
    reached: dict[str, int] = {}
    for count in range(60):
        browser.press(Keys.TAB)
        now = browser.ask(focused)
        if now.startswith("BODY"):
            break
        reached.setdefault(now.partition(" ")[0], count)
        if now.startswith("SUMMARY"):
            browser.press(Keys.ENTER)
            assert browser.ask("return document.querySelectorAll('details[open]').length") == 0
            browser.press(Keys.SPACE)
            assert browser.ask("return document.querySelectorAll('details[open]').length") == 1
        if now == "A mean":
            _settled(browser)
            assert browser.ask("return document.querySelectorAll('.graph path.on').length") == 2
            browser.press(Keys.ENTER)
            assert browser.ask("return document.querySelector(':target b').textContent") == "mean"
    assert {"BUTTON", "SUMMARY", "A"} <= reached.keys()


def test_a_line_has_an_address_in_the_page_of_shapes(browser: Browser, printed: Path) -> None:
    browser.open((printed / "shapes.html").as_uri() + "#L14", (1280, 200))
    assert browser.ask("return document.querySelector(':target td').textContent") == "14"
    assert _in_sight(browser, ":target")


def test_shapes_stand_beside_their_lines_and_on_a_phone_below(browser: Browser, printed: Path) -> None:
    from browser.chromium import DESKTOP, PHONE

    where = "return [...document.querySelectorAll('#L14 td')].map(each => each.getBoundingClientRect().toJSON())"
    browser.open((printed / "shapes.html").as_uri(), DESKTOP)
    _, code, shape = browser.ask(where)
    assert code["right"] <= shape["left"] and code["top"] == shape["top"]
    browser.open((printed / "shapes.html").as_uri(), PHONE)
    _, code, shape = browser.ask(where)
    assert code["bottom"] <= shape["top"] and shape["right"] <= PHONE[0]


def _settled(browser: Browser) -> list[list[str]]:
    """The edges after the browser has told the page what was folded, which it does before it paints the next time."""
    browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    found: list[list[str]] = browser.ask(ENDS)
    return found


def _in_sight(browser: Browser, selector: str) -> bool:
    script = """
    const box = document.querySelector(arguments[0]).getBoundingClientRect();
    return box.height > 0 && box.top < innerHeight && box.bottom > 0 && box.left < innerWidth;
    """
    return bool(browser.ask(script, selector))
