"""What `distml shapes` found, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.diagnostics.printable import safe
from distml.diagnostics.style import Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distml.gradual.shown import Entry, Shown, ShownLayers

WIDEST = 80
"""Columns of source beside which shapes stand; beside a longer line they stand below it."""
LONGEST = 100
"""Columns that the shapes of a line may take; more stand below each other."""
_TAB = 4


def as_json(shown: Shown) -> dict[str, Any]:
    """An object with `path`, `shapes`, `failures`, `notes` and `layers`; the fields are in docs/shapes.md."""
    return {
        "path": shown.path,
        "shapes": [
            {
                "kind": each.kind,
                "name": each.name,
                "line": each.line,
                "column": each.column,
                "end_line": each.end_line,
                "end_column": each.end_column,
                "values": [
                    {"text": text, "shape": None if sizes is None else list(sizes)}
                    for text, sizes in zip(each.values, each.sizes, strict=True)
                ],
            }
            for each in shown.entries
        ],
        "failures": [each._asdict() for each in shown.failures],
        "notes": list(shown.notes),
        "layers": None if shown.layers is None else _layers_as_json(shown.layers),
    }


def _layers_as_json(table: ShownLayers) -> dict[str, Any]:
    return {**table._asdict(), "rows": [row._asdict() for row in table.rows]}


def as_text(shown: Shown, color: bool) -> Iterator[str]:
    """The source with the shapes beside its lines, the lines that fail, and notes."""
    style = Style(color)
    beside = beside_lines(shown)
    wide = [len(show(shown.lines[line - 1])) for line in beside if line <= len(shown.lines)]
    width = max((size for size in wide if size <= WIDEST), default=0)
    digits = len(str(max((last for _, last in shown.parts), default=1)))
    for number, (first, last) in enumerate(shown.parts):
        if number:
            yield f"{' ' * digits} {style.blue('...')}"
        for line in range(first, last + 1):
            yield from _line(shown, line, beside.get(line, []), width, digits, style)
    if not beside:
        yield style.dim("no tensors were seen here")
    if shown.layers is not None:
        yield from ["", *_table(shown.layers, style), ""]
    for note in shown.notes:
        yield f"{style.blue('note')}: {safe(note)}"


def beside_lines(shown: Shown) -> dict[int, list[str]]:
    """What stands beside each line, safe to print."""
    found: dict[int, list[Entry]] = {}
    for each in shown.entries:
        found.setdefault(each.line, []).append(each)
    return {line: _texts(entries) for line, entries in found.items()}


def _texts(entries: Sequence[Entry]) -> list[str]:
    """What stands beside a line; a call whose result is what a name is given, or what is returned, is not repeated."""
    kept = {each.values for each in entries if each.kind != "call"}
    shown = [each for each in entries if each.kind != "call" or each.values not in kept]
    return list(dict.fromkeys(f"{safe(each.name)}: {safe(' | '.join(each.values))}" for each in shown))


def _line(shown: Shown, line: int, texts: list[str], width: int, digits: int, style: Style) -> Iterator[str]:
    source = show(shown.lines[line - 1]) if line <= len(shown.lines) else ""
    number, bar = style.blue(str(line).rjust(digits)), style.blue("|")
    groups = [texts] if sum(map(len, texts)) <= LONGEST else [[text] for text in texts]
    painted = [style.green(", ".join(group)) for group in groups] if texts else []
    if painted and len(source) <= width:
        yield f"{number} {bar} {source.ljust(width)}  {painted.pop(0)}"
    else:
        yield f"{number} {bar} {source}".rstrip()
    for text in painted:
        yield f"{' ' * digits} {bar} {' ' * width}  {text}"
    for failure in shown.failures:
        if failure.line == line:
            yield f"{' ' * digits} {bar} {style.red('fails')}: {safe(failure.message)}"


HEADS = ("layer", "type", "output", "parameters", "bytes", "multiply-adds")


def _table(table: ShownLayers, style: Style) -> Iterator[str]:
    """The layers in columns, numbers to the right."""
    rows = [
        (row.name, row.type, row.output or "", *map(amount, (row.parameters, row.bytes, row.multiply_adds)))
        for row in table.rows
    ]
    total = ("total", "", "", *map(amount, table[1:]))
    cells = [HEADS, *([*map(safe, row)] for row in rows), total]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADS))]
    for number, row in enumerate(cells):
        padded = [
            cell.rjust(width) if column > 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(padded).rstrip()
        yield style.bold(line) if number in (0, len(cells) - 1) else line


def amount(amount: int | str | None) -> str:
    """A number with its thousands apart, a formula, or `unknown`."""
    return "unknown" if amount is None else f"{amount:,}" if isinstance(amount, int) else amount


def show(source: str) -> str:
    """A line of source, safe to print."""
    return safe(source).replace("\t", " " * _TAB)
