"""The pages of rules as files, for an editor to open: they lie in the cache folder and say what `distml explain` does."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

from distml.diagnostics.registry import rule
from distml.report.pages import page
from distml.source.folders import default_folder
from distml.writing.files import replace


@cache
def link(code: str) -> str | None:
    """The URI of the page of a rule; None where it cannot be written."""
    path = Path(default_folder(), "rules", f"{code}.md").absolute()
    text = page(rule(code)).encode()
    with suppress(OSError):
        if not path.is_file() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(str(path.parent), path.name, text)
        return path.as_uri()
    return None
