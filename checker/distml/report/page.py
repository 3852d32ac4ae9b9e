"""What the HTML pages have in common: one file that needs nothing else, and may load nothing."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from distml.diagnostics.printable import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'{scripts}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
"""
END = "</body>\n</html>\n"


def head(title: str, style: str, script_hash: str = "") -> str:
    """The beginning of a page; a browser runs the script of this SHA-256 hash and no other, by default none."""
    scripts = f"; script-src 'sha256-{script_hash}'" if script_hash else ""
    return _HEAD.format(title=as_text(title), style=style, scripts=scripts)


def notes(found: Iterable[str]) -> Iterator[str]:
    """What is remarked, as a list; nothing where nothing is."""
    items = [f"<li>{as_text(note)}</li>\n" for note in found]
    if items:
        yield from ('<ul class="notes">\n', *items, "</ul>\n")


def as_text(text: str) -> str:
    """Text of others: on one line, as text, also in the value of an attribute."""
    return escape(safe(text))
