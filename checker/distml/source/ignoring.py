"""Comments that suppress findings, put where they work: an edit for each line that gets one or gets more codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distml.diagnostics.model import Diagnostic, Edit, Fix, Span
from distml.source.file import SourceFile
from distml.source.reading import split_lines
from distml.source.suppressions import line_ends, trailing

NEVER = "SRC"
"""What no comment hides: that a file cannot be read, that a comment hides nothing, a failure of distml."""


def ignoring(source: SourceFile, findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """One of the `findings` in a file for each line that is to change, with that change as its fix."""
    lines, ends = split_lines(source.text), line_ends(source)
    wanted: dict[int, list[Diagnostic]] = {}
    for finding in findings:
        wanted.setdefault(_end(finding.span.line, ends, len(lines)), []).append(finding)
    there = trailing(source)
    for line, hidden in sorted(wanted.items()):
        codes = sorted({finding.code for finding in hidden})
        told = f"suppress {', '.join(codes)}"
        comment = there.get(line)
        if comment is None:
            end = len(lines[line - 1]) + 1
            edit = Edit(Span(source.path, line, end, line, end), f"  # distml: ignore[{', '.join(codes)}]")
        else:
            edit = Edit(comment.place, ", ".join(dict.fromkeys([*comment.codes, *codes])))
        yield hidden[0]._replace(fix=Fix(told, (edit,)))


def _end(line: int, ends: frozenset[int], last: int) -> int:
    """The line that ends the lines which a string or backslashes join with `line`."""
    while line < last and line not in ends:
        line += 1
    return line
