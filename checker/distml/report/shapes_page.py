"""What `distml shapes` found as one HTML page that needs nothing else: no script, no picture, no style of its own.

Everything of the source is escaped, and the page says itself that a browser may load and run nothing for it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from distml.report.page import END, as_text, head, notes
from distml.report.shapes import HEADS, amount, beside_lines, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distml.gradual.shown import Shown, ShownLayers

_STYLE = """\
:root { color-scheme: light dark; --quiet: #57606a; --shape: #116329; --line: #8884; --wrong: #b3261e }
@media (prefers-color-scheme: dark) { :root { --quiet: #9198a1; --shape: #7ee787; --wrong: #ff8a80 } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 110rem; padding: 0 1rem }
table { border-collapse: collapse }
td, th { padding: 0 .75rem; text-align: left; vertical-align: top }
.source td, .layers td { font: 13px/1.6 ui-monospace, monospace; white-space: pre-wrap }
.source td:first-child { color: var(--quiet); text-align: right; user-select: none }
.source td:nth-child(2) { white-space: pre }
.source td:last-child { color: var(--shape) }
.source tr:hover, .source tr:target, .layers tr:hover { background: var(--line) }
.gap td { border-top: 1px solid var(--line) }
.fails { color: var(--wrong); font-weight: 600 }
.layers tr > :nth-child(n + 4) { text-align: right }
.layers tr:first-child, .layers tr:last-child { border-bottom: 1px solid var(--line); font-weight: 600 }
.notes { color: var(--quiet) }
.wide { overflow-x: auto }
.wide td { white-space: pre }
@media (max-width: 52rem) {
  .source, .source tbody { display: block }
  .source tr { display: grid; grid-template-columns: 3.5rem minmax(0, 1fr) }
  .source td:nth-child(2) { white-space: pre-wrap; overflow-wrap: anywhere }
  .source td:last-child { grid-column: 2; padding-left: 2rem; overflow-wrap: anywhere }
}
"""


def as_html(shown: Shown) -> str:
    """The whole page."""
    parts = [head(f"Shapes in {shown.path}", _STYLE), *_source(shown)]
    if shown.layers is not None:
        parts += _layers(shown.layers)
    return "".join([*parts, *notes(shown.notes), END])


def _source(shown: Shown) -> Iterator[str]:
    beside = beside_lines(shown)
    yield '<table class="source">\n'
    for number, (first, last) in enumerate(shown.parts):
        if number:
            yield '<tr class="gap"><td></td><td></td><td></td></tr>\n'
        for line in range(first, last + 1):
            source = shown.lines[line - 1] if line <= len(shown.lines) else ""
            shapes = "<br>".join(map(escape, beside.get(line, [])))
            fails = "".join(
                f'<div class="fails">fails: {as_text(each.message)}</div>'
                for each in shown.failures
                if each.line == line
            )
            yield f'<tr id="L{line}"><td>{line}</td><td>{escape(show(source))}</td><td>{shapes}{fails}</td></tr>\n'
    yield "</table>\n"


def _layers(table: ShownLayers) -> Iterator[str]:
    yield '<h2>Layers</h2>\n<div class="wide"><table class="layers">\n'
    yield f"<tr>{''.join(f'<th>{head}</th>' for head in HEADS)}</tr>\n"
    for row in table.rows:
        amounts = map(amount, (row.parameters, row.bytes, row.multiply_adds))
        yield _row([row.name, row.type, row.output or "", *amounts])
    yield _row(["total", "", "", *map(amount, table[1:])])
    yield "</table></div>\n"


def _row(cells: list[str]) -> str:
    return f"<tr>{''.join(f'<td>{as_text(cell)}</td>' for cell in cells)}</tr>\n"
