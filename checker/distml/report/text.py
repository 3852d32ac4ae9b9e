"""The report for people: each finding with its source line, the places that explain it, and what may help.

model.py:12:16: error[SHP101] matmul-mismatch: ...
   12 |         return self.head(features)
      |                ^^^^^^^^^^^^^^^^^^^
  note: 128 is set here
    --> model.py:7:21
    7 |         self.head = nn.Linear(128, 10)
      |                               ^^^
  = help: ...
"""

from __future__ import annotations

from collections.abc import Iterator

from distml.diagnostics.model import Diagnostic, Related, Span
from distml.diagnostics.printable import safe
from distml.diagnostics.registry import rule
from distml.diagnostics.style import Style
from distml.engine.results import Report
from distml.report.context import Context
from distml.report.summary import summary
from distml.report.tracking import functions

_TAB = 4


def render(report: Report, context: Context) -> Iterator[str]:
    """The findings, where tracking was lost if asked for, and the summary line."""
    style = Style(context.color)
    yield from findings(report, context)
    if context.verbose:
        for lost in report.lost:
            yield f"{context.place(lost.span)}: {style.dim('lost track')}: {safe(lost.reason)}"
        yield from functions(report.tracked, context)
        if report.lost or report.tracked:
            yield ""
    yield summary(report, style)


def findings(report: Report, context: Context) -> Iterator[str]:
    """Each finding with an empty line after it."""
    style = Style(context.color)
    for finding in report.diagnostics:
        yield from _finding(finding, context, style)
        yield ""


def _finding(finding: Diagnostic, context: Context, style: Style) -> Iterator[str]:
    kind = rule(finding.code)
    where = context.place(finding.span)
    level = style.severity(kind.severity, f"{kind.severity.value}[{kind.code}]")
    first, *more = safe_lines(finding.message)
    yield f"{style.bold(where)}: {level} {kind.name}: {style.bold(first)}"
    yield from (f"  {line}" for line in more)
    width = max(_digits(span, context) for span in (finding.span, *(each.span for each in finding.related)))
    if not _whole_file(finding):
        yield from _excerpt(finding.span, context, style, width, lambda text: style.severity(kind.severity, text))
    for related in finding.related:
        yield from _related(related, finding, context, style, width)
    for what, text in (("help", finding.hint), ("fix", finding.fix and finding.fix.description)):
        if text:
            first, *more = safe_lines(text)
            yield f"  {style.blue('=')} {style.bold(what)}: {first}"
            yield from (f"    {line}" for line in more)


def _whole_file(finding: Diagnostic) -> bool:
    """Whether a finding is about a file and merely has to stand somewhere."""
    span = finding.span
    return (
        finding.code.startswith("SRC") and (span.line, span.column, span.end_line) == (1, 1, 1) and span.end_column < 3
    )


def _related(related: Related, finding: Diagnostic, context: Context, style: Style, width: int) -> Iterator[str]:
    span = related.span
    yield f"  {style.blue('note')}: {'; '.join(safe_lines(related.message))}"
    if span.path != finding.span.path or _in_other_cell(span, finding.span, context):
        yield f"  {' ' * width}{style.blue('-->')} {context.place(span)}"
    yield from _excerpt(span, context, style, width, style.blue)


def _excerpt(span: Span, context: Context, style: Style, width: int, paint: Style.Paint) -> Iterator[str]:
    """The first line of a span with carets under it."""
    source = context.line(span.path, span.line)
    if source is None or not source.strip():
        return
    end = span.end_column if span.end_line == span.line else len(source) + 1
    end = min(max(end, span.column + 1), max(len(source) + 1, span.column + 1))
    shown, start, stop = _window(_show(source), *_columns(source, span.column - 1, end - 1))
    more = " ..." if span.end_line > span.line else ""
    bar = style.blue("|")
    yield f"  {style.blue(_number(span, context).rjust(width))} {bar} {shown}"
    yield f"  {' ' * width} {bar} {' ' * start}{paint('^' * max(stop - start, 1) + more)}"


def _number(span: Span, context: Context) -> str:
    """The number of the first line, in a notebook within its cell."""
    cell = context.cell(span)
    return str(span.line if cell is None else cell.line)


def _digits(span: Span, context: Context) -> int:
    cell = context.cell(span)
    return len(str(span.end_line if cell is None else cell.end_line))


def _in_other_cell(one: Span, other: Span, context: Context) -> bool:
    cells = context.cell(one), context.cell(other)
    return cells[0] is not None and cells[1] is not None and cells[0].cell != cells[1].cell


def _show(source: str) -> str:
    return safe(source).replace("\t", " " * _TAB)


def _columns(source: str, start: int, end: int) -> tuple[int, int]:
    """Character columns -> columns on the screen, where a character may take none, two or more."""
    before, inside = _show(source[:start]), _show(source[start:end])
    left = _screen_width(before)
    return left, left + _screen_width(inside)


def _screen_width(text: str) -> int:
    if text.isascii():
        return len(text)
    import unicodedata

    widths = (
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
    return sum(widths)


def _window(shown: str, start: int, stop: int) -> tuple[str, int, int]:
    """Cut a very long line down to the part around the carets."""
    room = 160
    if len(shown) <= room:
        return shown, start, stop
    left = max(0, start - room // 4)
    stop = min(stop, left + room)
    cut = ("..." if left else "") + shown[left : left + room] + ("..." if left + room < len(shown) else "")
    shift = left - (3 if left else 0)
    return cut, start - shift, stop - shift


def safe_lines(text: str) -> list[str]:
    """The lines of a message, safe to print; at least one."""
    return [safe(line) for line in text.splitlines()] or [""]
