"""The pages of the documentation site: the Markdown of the repository, where it lies.

A page is what the README leads to: its links to Markdown, the links of those, and so on; a file of another kind that one of
them links is copied. Every page keeps its path in the repository, so links that work on the code host work on the site. In
addresses, `docs/` and the `README` of a folder are left out.

Diagrams are drawn in the browser by Mermaid, which is a file of the site: pages with a diagram load it (`theme/main.html`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s#:]+)(?:#[^)\s]*)?\)")
MERMAID = ("assets/mermaid.js", Path(__file__).parent / "node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js")
"""Where it is on the site, and the file that it is."""
FENCE = re.compile(r"^( *)(`{3,})(.*)$")


def reached() -> list[str]:
    """The paths of all files that links lead to from the README, in the order of their names."""
    found = ["README.md"]
    for path in found:
        if path.endswith(".md"):
            for link in LINK.findall((ROOT / path).read_text("utf-8")):
                other = os.path.normpath(os.path.join(os.path.dirname(path), link))
                if other not in found and not other.startswith("..") and (ROOT / other).is_file():
                    found.append(other)
    return sorted(found)


def address(path: str) -> str:
    """The file of the site that a file of the repository becomes."""
    short = path.removeprefix("docs/")
    if not short.endswith(".md"):
        return short
    folder, name = os.path.split(short.removesuffix(".md"))
    place = os.path.join(folder, "" if name in ("README", "index") else name.lower())
    return os.path.join(place, "index.html")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Below an index in the navigation, all pages of its folder."""
    paths = reached()
    for entry in (each for each in config.nav if isinstance(each, dict)):
        for title, pages in entry.items():
            if isinstance(pages, list) and pages[0].endswith("/index.md"):
                folder = os.path.dirname(pages[0])
                entry[title] = pages + [each for each in paths if os.path.dirname(each) == folder and each != pages[0]]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files that are reached, in the place of those of `docs/`; the theme keeps its own."""
    theme = [each for each in files if each.src_dir != config.docs_dir]
    place = (str(ROOT), config.site_dir, config.use_directory_urls)
    paths = reached()
    made = [File(path, *place, dest_uri=address(path)) for path in paths]
    if any("```mermaid" in (ROOT / path).read_text("utf-8") for path in paths if path.endswith(".md")):
        name, script = MERMAID
        if not script.is_file():
            raise PluginError("Mermaid is not installed: `make site` does it, or `npm ci --prefix .ci/site`")
        made.append(File.generated(config, name, abs_src_path=str(script)))
    return Files([*theme, *made])


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Info strings in the site's form: the language, and the name of a file as the title of its block."""
    lines, closing = [], ""
    for line in markdown.split("\n"):
        fence = FENCE.match(line)
        if closing:
            closing = "" if line.strip() == closing else closing
        elif fence:
            indent, closing, info = fence.groups()
            language, _, name = info.strip().partition(" ")
            line = f"{indent}{closing}{language}" + (f' title="{name}"' if "." in name else "")
        lines.append(line)
    return "\n".join(lines)
