"""Text of others made safe to stand in GitHub's Markdown: names of files, messages, source.

Whatever such text holds, it stays text: it ends no table cell, no code and no line, makes no link, and calls nobody by
`@name`. https://github.github.com/gfm/
"""

from __future__ import annotations

import re

from distml.diagnostics.printable import safe

# Inside a code span only these mean something, the bar because a table is cut into cells before spans are read.
_NO_SPAN = re.compile(r"[`|]|^ | $|^$")
_PUNCTUATION = re.compile(r"[!-,.-/:-@\[-`{-~]")
_MARKS = re.compile(r"[\\`*_\[\]<>#|~&@$]|:(?=/)|(?<=www)\.", re.IGNORECASE)
_CALLS = re.compile(r"([@#])(?=[\w-])")
_FENCE = re.compile(r"`{3,}")
_BREAK = "&#8203;"  # a space of no width: what follows `@` is no name any more


def code(text: str) -> str:
    """`text` on one line in the type of programs."""
    shown = safe(text.replace("\t", " "))
    if not _NO_SPAN.search(shown):
        return f"`{shown}`"
    return f"<code>{_PUNCTUATION.sub(lambda found: f'&#{ord(found[0])};', shown)}</code>"


def prose(text: str) -> str:
    """`text` as words; its lines become lines of one paragraph."""
    lines = (safe(line.replace("\t", " ")).strip() for line in text.splitlines())
    return "<br>".join(_words(line) for line in lines if line)


def fenced(text: str, language: str = "") -> str:
    """`text` as a block of lines, each as it is."""
    lines = [safe(line.removesuffix("\r")) for line in text.removesuffix("\n").split("\n")]
    longest = max((len(found[0]) for line in lines for found in _FENCE.finditer(line)), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


def _words(line: str) -> str:
    escaped = _MARKS.sub(lambda found: f"\\{found[0]}", line)
    return _CALLS.sub(rf"\1{_BREAK}", escaped)
