"""Import statements by pattern, without parsing: cheap enough for every file of a project.

May find too much (an import inside a string), never too little.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_STATEMENT = re.compile(
    r"(?:^|[;:])[ \t\f]*(?:"
    r"from[ \t]*(?P<dots>[. \t]*)(?P<module>[\w.]*)[ \t]*\bimport\b[ \t]*(?P<names>\([^()]*|[^\n#;]*)"
    r"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)
_DYNAMIC = re.compile(r"import(?:_module|__)[ \t]*\([ \t\n]*[\"'](?P<module>[\w.]+)[\"']")
_COMMENT = re.compile(r"#[^\n]*")


class Import(NamedTuple):
    """`import module`, or `from module import names` with `level` leading dots."""

    module: str
    level: int
    names: tuple[str, ...]


def imports(text: str) -> list[Import]:
    """The imports of a source text, in order."""
    if "import" not in text:
        return []
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")
    found: list[Import] = []
    for statement in _STATEMENT.finditer(text):
        if statement["modules"] is not None:
            found += [Import(module, 0, ()) for module in _names(statement["modules"])]
        else:
            names = tuple(_names(_COMMENT.sub("", statement["names"]).strip("( \t\n")))
            found.append(Import(statement["module"], statement["dots"].count("."), names))
    found += [Import(call["module"], 0, ()) for call in _DYNAMIC.finditer(text)]
    return found


def _names(listed: str) -> list[str]:
    """`a.b as c, d` -> `a.b`, `d`."""
    return [words[0] for part in listed.split(",") if (words := part.split())]
