"""Comments that suppress findings, and a finding for those that suppress nothing.

`# distml: ignore[SHP101, ...]` hides these findings on its line, `# distml: ignore` all of them; alone on a line it speaks
for the next line of code. A finding that spans lines may carry the comment on any of them. `# distml: ignore-file` hides
the file. Only comments count, not strings that look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from distml.diagnostics.model import Diagnostic, Span
from distml.source.file import SourceFile
from distml.source.reading import split_lines

_COMMENT = re.compile(r"#\s*distml:\s*(?P<verb>ignore-file|ignore)(?![\w-])\s*(?:\[(?P<codes>[^\]]*)\])?")
_CODE = re.compile(r"[A-Z]{3}\d{3}")
UNUSED = "SRC301"
ELSEWHERE = ("HVD",)
"""Families that are found by another command than `check`, which cannot say whether a comment for them is needed."""


class Suppression:
    """One comment: where it stands, the lines it speaks for, and the codes it names (none: all)."""

    def __init__(self, span: Span, line: int, codes: tuple[str, ...]) -> None:
        self.span = span
        self.line = line
        self.codes = codes
        self.used: set[str] = set()

    def covers(self, finding: Diagnostic) -> bool:
        """Whether the comment hides `finding`."""
        on_line = finding.span.line <= self.line <= max(finding.span.end_line, finding.span.line)
        return on_line and (not self.codes or finding.code in self.codes)


class Applied(NamedTuple):
    """What is left of the findings in a file, a finding for each comment (or code in it) that hid nothing, and the lines
    of the comments that hid something."""

    kept: tuple[Diagnostic, ...]
    unused: tuple[Diagnostic, ...] = ()
    used: tuple[int, ...] = ()


def ignores_file(source: SourceFile) -> bool:
    """Whether a comment `# distml: ignore-file` stands anywhere in the file."""
    return any(found["verb"] == "ignore-file" for _, _, found in _comments(source))


def spoken_for(source: SourceFile) -> list[tuple[int, tuple[str, ...]]]:
    """The lines that comments speak for, each with the codes it names (none: all)."""
    return [(each.line, each.codes) for each in _suppressions(source)]


def apply(source: SourceFile, findings: Iterable[Diagnostic]) -> Applied:
    """What the comments of a file do to findings in it."""
    suppressions = _suppressions(source)
    if not suppressions:
        return Applied(tuple(findings))
    kept = tuple(finding for finding in findings if not _suppressed(finding, suppressions))
    unused = tuple(finding for each in suppressions for finding in _unused(each))
    return Applied(kept, unused, tuple(each.span.line for each in suppressions if each.used))


def _suppressed(finding: Diagnostic, suppressions: list[Suppression]) -> bool:
    covering = [each for each in suppressions if each.covers(finding)]
    for each in covering:
        each.used.add(finding.code)
    return bool(covering)


def _unused(suppression: Suppression) -> Iterator[Diagnostic]:
    if not suppression.codes and not suppression.used:
        yield Diagnostic(UNUSED, "nothing is found on this line: the comment suppresses nothing", suppression.span)
    for code in suppression.codes:
        if code not in suppression.used and not code.startswith(ELSEWHERE):
            known = "is not found on this line" if _CODE.fullmatch(code) else "is not a code"
            yield Diagnostic(UNUSED, f"{code} {known}: the comment suppresses nothing", suppression.span)


def _suppressions(source: SourceFile) -> list[Suppression]:
    lines = split_lines(source.text)
    found = []
    for line, column, match in _comments(source):
        if match["verb"] == "ignore":
            start = column + match.start()
            span = Span(source.path, line, start + 1, line, column + match.end() + 1)
            codes = tuple(code for part in (match["codes"] or "").split(",") if (code := part.strip()))
            alone = not lines[line - 1][:column].strip()
            found.append(Suppression(span, _next_code(lines, line) if alone else line, codes))
    return found


def _next_code(lines: list[str], line: int) -> int:
    """The first line after `line` that holds more than a comment."""
    for number in range(line + 1, len(lines) + 1):
        text = lines[number - 1].strip()
        if text and not text.startswith("#"):
            return number
    return line


def _comments(source: SourceFile) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Line, column (from 0) and match of each comment that talks to distml; reads tokens only where one may be."""
    if not _COMMENT.search(source.text):
        return
    import tokenize

    lines = iter([line + "\n" for line in split_lines(source.text)])
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if found:
                yield token.start[0], token.start[1], found
    except (tokenize.TokenError, SyntaxError):
        return  # the file does not parse; comments before the error have counted
