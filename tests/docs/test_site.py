"""The documentation site: built strictly, whole, alike on the code host, and without anything of another host."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from delivery.pages import ROOT
from docs import site

SITE = ROOT / ".ci" / "site"
ELEMENTS = {
    "h1",
    "h2",
    "h3",
    "h4",
    "ul",
    "ol",
    "li",
    "table",
    "tr",
    "td",
    "pre",
    "blockquote",
    "img",
    "a",
    "strong",
    "em",
}
LOADED = {
    "link": "href",
    "script": "src",
    "img": "src",
    "iframe": "src",
    "object": "data",
    "source": "src",
    "video": "src",
}

pytestmark = pytest.mark.requires("mkdocs", "material", "cmarkgfm", "npm")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.built(tmp_path_factory)


class Page(HTMLParser):
    """What a page is made of: its elements, where its text begins on the site; its links, identifiers, and what it loads."""

    def __init__(self, text: str, article: bool) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.loaded: list[str] = []
        self._inside, self._article = not article, article
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self._inside |= tag == "article"
        self.names.add(given.get("id", ""))
        self.loaded += [given[LOADED[tag]]] if LOADED.get(tag) in given and given.get("rel") != "canonical" else []
        if tag == "a" and "href" in given and self._inside:
            self.links.append(given["href"])
        if self._inside and tag in ELEMENTS and given.get("class") != "headerlink" and (tag != "a" or "href" in given):
            self.elements[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self._inside &= not (self._article and tag == "article")


def pages(built: Path) -> dict[str, Path]:
    """The page of the site of each Markdown file of the repository that it holds."""
    sys.path.insert(0, str(SITE))
    try:
        from pages import address, reached
    finally:
        sys.path.remove(str(SITE))
    return {path: built / address(path) for path in reached() if path.endswith(".md")}


def test_every_page_of_the_documentation_is_on_the_site(built: Path) -> None:
    found = pages(built)
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")} <= set(found)
    assert {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} <= set(found)
    assert len({*found.values()}) == len(found)
    assert [path for path, page in found.items() if not page.is_file()] == []


def test_a_page_is_the_same_on_the_code_host(built: Path) -> None:
    """Two readers of Markdown, which differ in lists, blocks in them, and info strings: as many of each element."""
    import cmarkgfm

    different = {}
    for path, page in pages(built).items():
        there = Page(
            cmarkgfm.github_flavored_markdown_to_html((ROOT / path).read_text("utf-8")), article=False
        ).elements
        here = Page(page.read_text("utf-8"), article=True).elements
        counts = {name: (there[name], here[name]) for name in ELEMENTS if there[name] != here[name]}
        counts.pop("h1" if there["h1"] == 0 else "", None)  # the site takes a title from the navigation
        different.update({path: counts} if counts else {})
    assert different == {}


def test_every_link_and_anchor_of_the_built_site_leads_somewhere(built: Path) -> None:
    """Looked up in what was built, whatever the generator says; the code host makes anchors by the same rule."""
    read = {page: Page(page.read_text("utf-8"), article=True) for page in built.rglob("*.html")}
    broken = []
    for page, found in read.items():
        for link in found.links if page.name != "404.html" else []:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in read[target].names):
                broken.append(f"{page.relative_to(built)}: {link}")
    assert broken == []
    assert sum(len(found.links) for found in read.values()) > 1000


def test_nothing_is_loaded_from_another_host(built: Path) -> None:
    for page in built.rglob("*.html"):
        text = page.read_text("utf-8")
        assert [
            each for each in Page(text, article=False).loaded if urlsplit(each).netloc not in ("", "example.org")
        ] == []
        assert "default-src 'self'" in text
    for sheet in built.rglob("*.css"):
        assert re.findall(r"(?:@import|url\()\s*['\"]?(?:https?:)?//[^)'\"]*", sheet.read_text("utf-8")) == []


def test_the_search_knows_the_pages(built: Path) -> None:
    index = (built / "search" / "search_index.json").read_text("utf-8")
    for wanted in ("Getting started in five minutes", "rules/SHP101", "editors/"):
        assert wanted.lower() in index.lower()


@pytest.mark.parametrize(
    "line",
    ["[no page](nowhere.md)", "[no anchor](usage.md#nowhere)", "[no anchor](#nowhere)", "[absolute](/usage.md)"],
)
def test_a_broken_link_fails_the_build(line: str, tmp_path: Path) -> None:
    """In a site of two pages, with the configuration of the whole one."""
    shutil.copytree(SITE, tmp_path / ".ci" / "site", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Home\n\n[usage](docs/usage.md)\n")
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    (tmp_path / "mkdocs.yml").write_text(
        settings[: settings.index("\nnav:")] + "\nnav:\n  - README.md\n  - docs/usage.md\n"
    )
    for text, code in (("", 0), (line, 1)):
        (tmp_path / "docs" / "usage.md").write_text(f"# Usage\n\n{text}\n")
        done = site.build(tmp_path)
        assert done.returncode == code, done.stderr


def test_the_workflow_builds_what_the_tests_build() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text("utf-8"))["jobs"]
    assert "make site" in jobs["build"]["steps"][-2]["run"]
    assert set(jobs["publish"]["permissions"]) == {"pages", "id-token"}
    assert not any("run" in step for step in jobs["publish"]["steps"])
