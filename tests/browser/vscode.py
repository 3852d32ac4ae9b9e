"""The extension in Visual Studio Code itself: its server and its page for browsers, as code-server brings them from npm.

Not among the tests that are always run, since that package is large: `.ci/vscode` installs it and runs this file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from delivery.pages import ROOT, blocks, shell

if TYPE_CHECKING:
    from browser.chromium import Browser

pytestmark = pytest.mark.requires("selenium", "chromium", "chromedriver", "code-server", "npm", "pygls")

PICTURE = ROOT / "docs" / "pictures" / "vscode.png"
MODEL = """\
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width=16, classes=10):
        super().__init__()
        self.features = nn.Conv2d(3, width, 3, stride=2)
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        features = self.features(images)
        pooled = features.mean(dim=(2, 3))
        return self.head(pooled)


scores = Classifier()(torch.zeros(8, 3, 32, 32))
halves = torch.zeros(6 / 2)
"""
SETTINGS = {
    "distml.path": str(Path(sys.executable).parent / "distml"),
    "distml.inlayHints": "assignments",
    "editor.minimap.enabled": False,
    "editor.stickyScroll.enabled": False,
    "files.autoSave": "afterDelay",
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
}
SIZE = (1120, 640)
LINE, LENS, WRONG = ".view-line", ".codelens-decoration a", ".squiggly-error"
HOVER, ACTIONS = ".monaco-hover:not(.hidden) .hover-row", ".action-widget .monaco-list-row"


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that is installed, built as the page says."""
    folder = tmp_path_factory.mktemp("extension")
    left_out = shutil.ignore_patterns("node_modules", "*.vsix")
    shutil.copytree(ROOT / "editors" / "vscode", folder / "editors" / "vscode", ignore=left_out)
    built = shell(blocks("editors.md", "sh vscode")[0], folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "editors" / "vscode" / "distml.vsix"


@contextmanager
def served(folder: Path, extension: Path) -> Iterator[str]:
    """The address of an editor that has the extension and shows the folder `project` of `folder`."""
    data = folder / "data"
    (data / "User").mkdir(parents=True)
    (data / "User" / "settings.json").write_text(json.dumps(SETTINGS), "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "HOME": str(folder)}
    own = ["code-server", "--user-data-dir", str(data), "--extensions-dir", str(folder / "extensions")]
    subprocess.run([*own, "--install-extension", str(extension)], env=environment, check=True, capture_output=True)
    options = ["--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry", "--disable-update-check"]
    process = subprocess.Popen(
        [*own, *options, "--disable-workspace-trust"],
        env=environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        _until(lambda: _answers(address), "the editor is served")
        yield f"{address}?folder={folder / 'project'}"
    finally:
        os.killpg(process.pid, 15)
        process.wait(timeout=30)


def test_the_extension_in_the_editor(
    browser: Browser, extension: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    from selenium.webdriver.common.keys import Keys

    path = tmp_path / "project" / "model.py"
    path.parent.mkdir()
    (path.parent / "pyproject.toml").touch()
    path.write_text(MODEL, "utf-8")
    with served(tmp_path, extension) as address:
        browser.open(address, SIZE)
        _open(browser, path.name)
        _see(browser, WRONG, lambda found: len(found) == 1)
        _see(browser, LENS, lambda found: found == ["Annotate the shapes of the inputs"])
        shown = _see(browser, LINE, lambda found: any("pooled: [8, 16] =" in each for each in found))
        assert "    def forward(self, images: [8, 3, 32, 32]):" in shown
        assert "scores: [8, 10] = Classifier()(torch.zeros(8, 3, 32, 32))" in shown

        _go(browser, "13:10")
        _chord(browser, (Keys.CONTROL, "k"), (Keys.CONTROL, "i"))
        hover = " ".join(_see(browser, HOVER, lambda found: any("[8, 16]" in each for each in found)))
        assert "pooled: [8, 16]" in hover and "16 comes from" in hover and "model.py:6" in hover

        browser.press(Keys.ESCAPE)
        _go(browser, "18:12")
        _chord(browser, (Keys.CONTROL, "."))
        offered = _see(browser, ACTIONS, lambda found: len(found) > 2)
        assert [each for each in offered if "SHP603" in each] == [
            "divide with // (SHP603)",
            "Suppress SHP603 with a comment",
            "Explain SHP603",
        ]
        if request.config.getoption("--update-docs"):
            browser.picture(PICTURE)
        browser.press(Keys.ENTER)
        _see(browser, WRONG, lambda found: not found)
        _until(lambda: "halves = torch.zeros(6 // 2)\n" in path.read_text("utf-8"), "the fix is saved")

        _until(lambda: _clicked(browser, LENS, lambda: "b 3 h w" in path.read_text("utf-8")), "the annotation is saved")
        assert re.search(r'images: Float\[.*Tensor, "b 3 h w"\]', path.read_text("utf-8"))


def _open(browser: Browser, name: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    rows = ".explorer-folders-view .monaco-list-row"
    _see(browser, rows, lambda found: name in found)
    row = next(each for each in browser.driver.find_elements("css selector", rows) if each.text == name)
    ActionChains(browser.driver).double_click(row).perform()


def _go(browser: Browser, place: str) -> None:
    """Put the cursor at a line and column."""
    from selenium.webdriver.common.keys import Keys

    _chord(browser, (Keys.CONTROL, "g"))
    _see(browser, ".quick-input-widget", lambda found: any("line" in each for each in found))
    browser.press(*place, Keys.ENTER)


def _chord(browser: Browser, *keys: tuple[str, str]) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    for held, key in keys:
        ActionChains(browser.driver).key_down(held).send_keys(key).key_up(held).perform()


def _clicked(browser: Browser, selector: str, done: Callable[[], bool]) -> bool:
    """Click, and wait a while for what it does; the editor may just be drawing anew what was clicked."""
    from selenium.common.exceptions import WebDriverException

    with suppress(WebDriverException):
        browser.driver.find_element("css selector", selector).click()
    for _ in range(25):
        if done():
            return True
        time.sleep(0.2)
    return False


def _see(browser: Browser, selector: str, wanted: Callable[[list[str]], bool]) -> list[str]:
    """The texts of these elements once they are as they should be."""
    found: list[str] = []

    def seen() -> bool:
        script = (
            "return [...document.querySelectorAll(arguments[0])].map(each => each.innerText.replaceAll('\\u00a0', ' '))"
        )
        found[:] = [each.strip("\n") for each in browser.ask(script, selector)]
        return wanted(found)

    _until(seen, selector, found)
    return found


def _until(wanted: Callable[[], bool], what: str, found: Any = "") -> None:
    end = time.monotonic() + 60
    while not wanted():
        assert time.monotonic() < end, f"{what}: {found}"
        time.sleep(0.2)


def _answers(address: str) -> bool:
    try:
        with urlopen(f"{address}healthz", timeout=5):
            return True
    except (URLError, OSError):
        return False
