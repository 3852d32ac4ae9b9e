"""A real browser without a window: Chromium, driven by Selenium, that can reach this machine and nothing else.

A page is judged by what the browser makes of it: elements and where they stand, colors, what the console says, and every request.
"""

from __future__ import annotations

import json
import shutil
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

DESKTOP, PHONE = (1280, 900), (390, 844)
"""Widths and heights of windows."""

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_PALE = """
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const over = (above, below) => [0, 1, 2].map(i => above[i] * (above[3] ?? 1) + below[i] * (1 - (above[3] ?? 1)));
const light = color => [.2126, .7152, .0722].reduce((sum, part, i) => {
  const c = color[i] / 255;
  return sum + part * (c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
}, 0);
const probe = document.body.appendChild(document.createElement("i"));
probe.style.backgroundColor = "Canvas";
const canvas = numbers(getComputedStyle(probe).backgroundColor);
probe.remove();
const fill = element => numbers(getComputedStyle(element).backgroundColor);
const behind = element => element ? over(fill(element), behind(element.parentElement)) : canvas;
const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement, style = getComputedStyle(element);
  if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
  const below = behind(element), [a, b] = [light(over(numbers(style.color), below)), light(below)];
  const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (contrast < 4.5) found.push(`${walker.currentNode.data.trim()}: ${contrast.toFixed(2)}`);
}
return found;
"""
"""Texts whose contrast with what is behind them is below 4.5, the least of the guidelines WCAG 2.2 (1.4.3)."""


class Browser:
    """One page at a time, and what became of it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, address: str, size: tuple[int, int] = DESKTOP, dark: bool = False) -> None:
        """Open a page for the first time, in a window of this size, for somebody who prefers dark or light pages."""
        self.driver.get("about:blank")
        self._tell("Storage.clearDataForOrigin", origin="*", storageTypes="local_storage")
        self.complaints(), self.requests()
        width, height = size
        self._tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self._tell("Emulation.setEmulatedMedia", features=[scheme, still])
        self.driver.get(address)

    def ask(self, script: str, *arguments: object) -> Any:
        """What a script gives that looks at the page."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, as somebody at a keyboard does."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def complaints(self) -> list[str]:
        """What the console of the page said since it was last asked."""
        return [each["message"] for each in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that were asked for since this was last asked; what lies in the page itself is left out."""
        events = [json.loads(each["message"])["message"] for each in self.driver.get_log("performance")]
        asked = [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]
        return [each for each in asked if urlsplit(each).scheme not in ("data", "blob", "about")]

    def too_wide(self) -> int:
        """Pixels of the page that one must scroll sideways for."""
        return int(self.ask("return document.documentElement.scrollWidth - innerWidth"))

    def pale(self) -> list[str]:
        """Texts that can hardly be told from what is behind them."""
        return list(self.ask(_PALE))

    def picture(self, path: Path) -> None:
        """Write what is seen as a PNG."""
        path.write_bytes(b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"]))

    def _tell(self, command: str, **arguments: object) -> None:
        self.driver.execute_cdp_cmd(command, arguments)


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A browser that keeps what it remembers in `folder`."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for each in (*ARGUMENTS, f"--user-data-dir={folder}"):
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
