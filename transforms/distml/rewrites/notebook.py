"""Notebooks: their code cells as one Python program, and back.

Lines that only IPython understands stand aside as `pass`, cells in other languages are left out, and a string statement
marks where each cell begins. Written back, only the sources of changed cells differ; outputs stay as they were.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from distml.diagnostics.model import Span
from distml.source.reading import unreadable

_MARK = "distml: cell {}"
_MARKED = re.compile(r'^"distml: cell (\d+)"\n', re.MULTILINE)
_MAGIC = re.compile(
    r"^(?P<indent>[ \t]*)(?P<magic>(?:[\w, ]+=\s*)?(?:!|%%?[A-Za-z_])(?:.*\\\n(?P=indent))*.*|\?.*|[\w.]+\?{1,2}\s*)$",
    re.MULTILINE,
)
_ASIDE = re.compile(r"pass  # distml: aside (\d+)$", re.MULTILINE)
_FOREIGN = re.compile(r"\s*%%(?!time\b|timeit\b|capture\b|prun\b)")
_FORMS: tuple[dict[str, Any], ...] = tuple(
    {"indent": indent, "ensure_ascii": escaped, "separators": separators}
    for indent in (1, 2, 4, None)
    for escaped in (False, True)
    for separators in (None, (",", ":"))
)


class Notebook:
    """A notebook as it was read. `program` is the text of its code cells."""

    def __init__(self, text: str, path: str) -> None:
        """Raises `UnreadableError` (SRC102) where it is no notebook."""
        self.text = text
        self.path = path
        try:
            self._data = json.loads(text)
            cells = self._data["cells"]
            self._code = {
                number: "".join(cell["source"])
                for number, cell in enumerate(cells, 1)
                if cell["cell_type"] == "code" and not _FOREIGN.match("".join(cell["source"]))
            }
        except (ValueError, KeyError, TypeError, RecursionError):
            raise unreadable("SRC102", path, "not a Jupyter notebook") from None
        self._aside: list[str] = []
        parts = (f'"{_MARK.format(number)}"\n{self._plain(source)}' for number, source in self._code.items())
        self.program = "".join(part if part.endswith("\n") else part + "\n" for part in parts)

    def _plain(self, source: str) -> str:
        if _parses(source):  # a line that begins with `%` goes on with the one above
            return source

        def put_aside(found: re.Match[str]) -> str:
            indent, lines = found["indent"], found["magic"].split("\n")
            kept = [lines[0], *(line.removeprefix(indent) for line in lines[1:])]
            self._aside += kept
            first = len(self._aside) - len(kept)
            return "\n".join(f"{indent}pass  # distml: aside {number}" for number in range(first, len(self._aside)))

        return _MAGIC.sub(put_aside, source)

    def place(self, span: Span) -> tuple[int, Span]:
        """The cell, counted from 1 among all cells, and the place in it that a place in `program` stands for."""
        before = self.program.split("\n")[: span.line]
        for above, line in enumerate(reversed(before)):
            found = _MARKED.match(line + "\n")
            if found:
                start = span.line - above
                return int(found[1]), span._replace(
                    line=max(1, span.line - start), end_line=max(1, span.end_line - start)
                )
        return 1, span

    def written(self, program: str) -> str:
        """The notebook with the cells of a changed `program`."""
        pieces = _MARKED.split(program)
        changed = {
            int(number): self._restored(source) for number, source in zip(pieces[1::2], pieces[2::2], strict=True)
        }
        data = json.loads(self.text)
        for number, source in changed.items():
            if not self._code[number].endswith("\n"):
                source = source.removesuffix("\n")
            if source != self._code[number]:
                cell = data["cells"][number - 1]
                cell["source"] = source.splitlines(keepends=True) if isinstance(cell["source"], list) else source
        return self._dumped(data)

    def _restored(self, source: str) -> str:
        return _ASIDE.sub(lambda found: self._aside[int(found[1])], source)

    def _dumped(self, data: object) -> str:
        """In the form the notebook was written in, so that what did not change is the same to the byte."""
        end = self.text[len(self.text.rstrip()) :]
        for form in _FORMS:
            if json.dumps(self._data, **form) + end == self.text:
                return json.dumps(data, **form) + end
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
