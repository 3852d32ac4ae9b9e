"""Comments that suppress findings, and a finding for those that suppress nothing.

`# distml: ignore[SHP101, ...]` hides these findings on its line, `# distml: ignore` all of them; alone on a line it speaks
for the next line of code. A finding that spans lines may carry the comment on any of them. Where a string or a backslash joins
lines, none of them but the last can have a comment, which speaks for all. `# distml: ignore-file` hides the file. Only comments
count, not strings that look like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from distml.diagnostics.model import Diagnostic, Fix, Span
from distml.source.file import SourceFile
from distml.source.reading import split_lines
from distml.source.uncommenting import without

if TYPE_CHECKING:
    from tokenize import TokenInfo

_COMMENT = re.compile(r"#\s*distml:\s*(?P<verb>ignore-file|ignore)(?![\w-])\s*(?:\[(?P<codes>[^\]]*)\])?")
_CODE = re.compile(r"[A-Z]{3}\d{3}")
UNUSED = "SRC301"
NO_CODE = "SRC302"
ELSEWHERE = ("HVD", "CHO5")
"""What `check` does not look for, or only where mypy is installed: whether a comment for it is needed is not known."""
_LOOKED_FOR = re.compile(r"\b(?:tensorflow|keras|torch|lightning|fastai|accelerate|transformers|distml\.choreo)\b")
"""Words without which a file has no finding of those."""


class Suppression:
    """One comment: where it stands and how it reads, the lines it speaks for, and the codes it names (none: all)."""

    def __init__(self, span: Span, match: re.Match[str], lines: range, codes: tuple[str, ...]) -> None:
        self.span = span
        self.match = match
        self.lines = lines
        self.codes = codes
        self.used: set[str] = set()

    def meets(self, finding: Diagnostic) -> bool:
        """Whether `finding` is on a line that the comment speaks for."""
        return finding.span.line < self.lines.stop and self.lines.start <= max(finding.span.end_line, finding.span.line)

    def covers(self, finding: Diagnostic) -> bool:
        """Whether the comment hides `finding`."""
        return self.meets(finding) and (not self.codes or finding.code in self.codes)

    @property
    def idle(self) -> list[str]:
        """The codes that hid nothing, of those that a check looks for."""
        return [code for code in self.codes if code not in self.used and not code.startswith(ELSEWHERE)]


class Applied(NamedTuple):
    """What is left of the findings in a file, a finding for each comment (or code in it) that hid nothing, and the lines
    of the comments that hid something."""

    kept: tuple[Diagnostic, ...]
    unused: tuple[Diagnostic, ...] = ()
    used: tuple[int, ...] = ()


def ignores_file(source: SourceFile) -> bool:
    """Whether a comment `# distml: ignore-file` stands anywhere in the file."""
    return any(found["verb"] == "ignore-file" for _, _, found in _comments(source))


def spoken_for(source: SourceFile) -> list[tuple[range, tuple[str, ...]]]:
    """The lines that each comment speaks for, with the codes it names (none: all)."""
    return [(each.lines, each.codes) for each in _suppressions(source)]


class Trailing(NamedTuple):
    """The codes that a comment behind code names, and where they stand."""

    codes: tuple[str, ...]
    place: Span


def trailing(source: SourceFile) -> dict[int, Trailing]:
    """By line, the comments behind code that name codes."""
    found: dict[int, Trailing] = {}
    for each in _suppressions(source):
        if each.codes and each.span.line in each.lines:
            start, end = each.match.span("codes")
            first = each.span.column - each.match.start()
            place = each.span._replace(column=first + start, end_column=first + end)
            found.setdefault(each.span.line, Trailing(each.codes, place))
    return found


def line_ends(source: SourceFile) -> frozenset[int]:
    """The lines that may end in a comment: no string and no backslash joins them with the next."""
    import tokenize

    ends = (tokenize.NEWLINE, tokenize.NL)
    return frozenset(token.start[0] for token in _tokens(source) if token.type in ends)


def hidden_by(source: SourceFile) -> Callable[[Diagnostic], bool]:
    """Whether the comments of a file hide a finding in it, for findings that come one by one."""
    whole, suppressions = ignores_file(source), _suppressions(source)
    return lambda finding: whole or any(each.covers(finding) for each in suppressions)


def apply(source: SourceFile, findings: Iterable[Diagnostic]) -> Applied:
    """What the comments of a file do to findings in it."""
    suppressions = _suppressions(source)
    if not suppressions:
        return Applied(tuple(findings))
    kept = tuple(finding for finding in findings if not _suppressed(finding, suppressions))
    unused = tuple(finding for each in suppressions for finding in _unused(each, source, kept))
    return Applied(kept, unused, tuple(each.span.line for each in suppressions if each.used))


def _suppressed(finding: Diagnostic, suppressions: list[Suppression]) -> bool:
    covering = [each for each in suppressions if each.covers(finding)]
    for each in covering:
        each.used.add(finding.code)
    return bool(covering)


def _unused(suppression: Suppression, source: SourceFile, kept: tuple[Diagnostic, ...]) -> Iterator[Diagnostic]:
    def says(rule: str, message: str, idle: Sequence[str]) -> Diagnostic:
        text = f"{message}: this comment suppresses nothing"
        return Diagnostic(rule, text, suppression.span, fix=_fix(suppression, source, kept, idle))

    if not suppression.codes and not suppression.used:
        yield says(UNUSED, "nothing is found on this line", ())
    for code in suppression.idle:
        if _CODE.fullmatch(code):
            yield says(UNUSED, f"{code} is not found on this line", suppression.idle)
        else:
            yield says(NO_CODE, f"{code} is not a code", [c for c in suppression.idle if not _CODE.fullmatch(c)])


def _fix(suppression: Suppression, source: SourceFile, kept: tuple[Diagnostic, ...], idle: Sequence[str]) -> Fix | None:
    """Without the `idle` codes; none where the comment may be meant for what is found there, or by another command."""
    if any(map(suppression.meets, kept)) or not (suppression.codes or not _LOOKED_FOR.search(source.text)):
        return None
    left = [code for code in suppression.codes if code not in idle]
    return without(split_lines(source.text), suppression.span, suppression.match, left)


def _suppressions(source: SourceFile) -> list[Suppression]:
    lines = split_lines(source.text)
    found = []
    for line, column, match in _comments(source):
        if match["verb"] == "ignore":
            start = column + match.start()
            span = Span(source.path, line, start + 1, line, column + match.end() + 1)
            codes = tuple(code for part in (match["codes"] or "").split(",") if (code := part.strip()))
            if lines[line - 1][:column].strip():
                found.append(Suppression(span, match, _joined(line, line_ends(source)), codes))
            else:
                following = _next_code(lines, line)
                found.append(Suppression(span, match, range(following, following + 1), codes))
    return found


def _joined(line: int, ends: frozenset[int]) -> range:
    """The lines that are joined with this one, which ends them."""
    first = line
    while first > 1 and first - 1 not in ends:
        first -= 1
    return range(first, line + 1)


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

    for token in _tokens(source):
        found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            yield token.start[0], token.start[1], found


def _tokens(source: SourceFile) -> Iterator[TokenInfo]:
    import tokenize

    lines = iter([line + "\n" for line in split_lines(source.text)])
    try:
        yield from tokenize.generate_tokens(lambda: next(lines, ""))
    except (tokenize.TokenError, SyntaxError):
        return  # the file does not parse; tokens before the error have counted
