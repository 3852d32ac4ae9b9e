"""Import statements by pattern, without parsing: cheap enough for every file of a project.

May find too much (an import inside a string), never too little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_STATEMENT = re.compile(
    r"(?:^|[;:])[ \t\f]*(?:"
    r"from[ \t]*(?P<dots>[. \t]*)(?P<module>[\w.]*)[ \t]*\bimport\b[ \t]*(?P<names>\([^()]*|[^\n#;]*)"
    r"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)
_DYNAMIC = re.compile(r"import(?:_module|__)[ \t]*\([ \t\n]*[\"'](?P<module>[\w.]+)[\"']")
_WORD = "import"
_PUBLIC = re.compile(r"^__all__[ \t]*(?::[^=\n]+)?=[ \t]*[\[(](?P<names>[^\[\]()]*)[\])][ \t]*(?:#.*)?$", re.MULTILINE)
_STRING = r"(?:\"\w+\"|'\w+')"
_STRINGS = re.compile(rf"\s*(?:{_STRING}\s*,\s*)*(?:{_STRING}\s*)?")
_QUOTED = re.compile(r"\w+")
_LISTED = re.compile(r"\([^()]*")
_COMMENT = re.compile(r"#[^\n]*")


class Import(NamedTuple):
    """`import module`, or `from module import names` with `level` leading dots."""

    module: str
    level: int
    names: tuple[str, ...]


def imports(text: str) -> list[Import]:
    """The imports of a source text, in order."""
    if _WORD not in text:
        return []
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\\\n", " ")
    found: list[Import] = []
    for statement, names in _statements(text):
        if statement["modules"] is not None:
            found += [Import(module, 0, ()) for module in _names(statement["modules"])]
        else:
            given = tuple(_names(_COMMENT.sub("", names).strip("( \t\n")))
            found.append(Import(statement["module"], statement["dots"].count("."), given))
    found += [Import(call["module"], 0, ()) for call in _DYNAMIC.finditer(text)]
    return found


def public_names(text: str) -> frozenset[str] | None:
    """The names that `import *` of a source text gives, where its only `__all__` is a list of plain texts; None elsewhere."""
    stated = _PUBLIC.search(text)
    if stated is None or text.count("__all__") > 1:
        return None
    listed = _COMMENT.sub("", stated["names"])
    return frozenset(_QUOTED.findall(listed)) if _STRINGS.fullmatch(listed) else None


def _statements(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The statements of the lines with the word, and what each lists behind it: up to a bracket, maybe lines below."""
    end = 0
    while (word := text.find(_WORD, end)) >= 0:
        start = max(end, text.rfind("\n", end, word) + 1)
        end = text.find("\n", word)
        end = len(text) if end < 0 else end
        for statement in _STATEMENT.finditer(text, start, end):
            names = statement["names"] or ""
            if (
                names.startswith("(")
                and statement.end() == end
                and (listed := _LISTED.match(text, statement.start("names")))
            ):
                names, end = listed[0], listed.end()
            yield statement, names


def _names(listed: str) -> list[str]:
    """`a.b as c, d` -> `a.b`, `d`."""
    return [words[0] for part in listed.split(",") if (words := part.split())]
