"""What `distml shapes` answers, with texts for the values that were seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from distml.gradual.shape_names import UNKNOWN, SymbolNames, dims_in, same_up_to_names, text_of
from distml.interp.shape_log import holds_tensor
from distml.values import Tensor, alternatives, union

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distml.gradual.layers import Layer, Layers
    from distml.interp.shape_log import Place, ShapeLog
    from distml.shapes import Dim
    from distml.values import Value

MAX_SHOWN = 4
"""Different shapes of one place that are listed; more become one in which what differs is unknown."""
MAX_BIRTHS = 16
"""Sizes of one place whose origin is told."""
Sizes = tuple[int | str, ...]


class Birth(NamedTuple):
    """Where a size comes from: the size as it is shown, and the text and the place of what gave it."""

    size: str
    text: str
    path: str
    line: int
    column: int


class Entry(NamedTuple):
    """What one expression, target or parameter is. `values` are the different texts of what it may be, `sizes` the shapes
    of those that are tensors, `births` where the numbers in them come from."""

    kind: str
    name: str
    line: int
    column: int
    end_line: int
    end_column: int
    values: tuple[str, ...]
    sizes: tuple[Sizes | None, ...]
    births: tuple[Birth, ...] = ()


class Failure(NamedTuple):
    """A line that must fail, and why."""

    line: int
    message: str


class ShownLayer(NamedTuple):
    """A row of the table of layers; None stands for what is not known."""

    name: str
    type: str
    output: str | None
    parameters: int | str | None
    bytes: int | str | None
    multiply_adds: int | str | None


class ShownLayers(NamedTuple):
    """The table of layers of a model with its sums: parameters, bytes of results, multiply-adds."""

    rows: tuple[ShownLayer, ...]
    parameters: int | str | None
    bytes: int | str | None
    multiply_adds: int | str | None


@dataclass(frozen=True)
class Shown:
    """The answer: parts of a file, from line to line, with what is known of each line.

    `notes` say what was assumed, and what could not be followed.
    """

    path: str
    lines: tuple[str, ...]
    parts: tuple[tuple[int, int], ...]
    entries: tuple[Entry, ...]
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    layers: ShownLayers | None = None


def different_calls(log: ShapeLog) -> dict[Place, list[Value]]:
    """What was seen, of calls of a function that are the same but for which symbols stand in them only the first."""
    calls: dict[int, list[tuple[Place, tuple[Value, ...]]]] = {}
    for place, values in log.seen.items():
        calls.setdefault(place.call, []).append((place, values))
    found: dict[Place, list[Value]] = {}
    first = {same_up_to_names(seen): seen for seen in reversed(calls.values())}
    for seen in reversed(first.values()):
        for place, values in seen:
            found.setdefault(place._replace(call=0), []).extend(values)
    return found


def entry_of(place: Place, values: Sequence[Value], names: SymbolNames) -> Entry | None:
    """What is shown of a place; None where no tensor was seen."""
    if place.kind == "size":
        return None
    options = [option for value in values for option in alternatives(value) if not _is_unknown(option)]
    if not any(map(holds_tensor, options)):
        return None
    shown = {
        text_of(option, names): tuple(names.sizes(option.shape)) if isinstance(option, Tensor) else None
        for option in alternatives(union(options))
    }
    if len(shown) > MAX_SHOWN:
        shown = _in_general(shown)
    births = dict.fromkeys(birth for option in options for birth in _births(option, names))
    return Entry(
        place.kind, place.name, *place.span[1:], tuple(shown), tuple(shown.values()), tuple(births)[:MAX_BIRTHS]
    )


def _births(view: Value, names: SymbolNames) -> Iterator[Birth]:
    for dim in dims_in(view):
        shown = names.dim(dim)
        if dim.origin is not None and shown != UNKNOWN:
            yield Birth(str(shown), *dim.origin)


def _in_general(shown: dict[str, Sizes | None]) -> dict[str, Sizes | None]:
    """One shape for many: what differs is unknown. What holds tensors and is none is said to be something else."""
    tensors = [sizes for sizes in shown.values() if sizes is not None]
    if not tensors:
        return {"...": None}
    general: Sizes = ("...",)
    if len({len(sizes) for sizes in tensors}) == 1 and not any("..." in sizes for sizes in tensors):
        general = tuple(axis[0] if len(set(axis)) == 1 else UNKNOWN for axis in zip(*tensors, strict=True))
    found: dict[str, Sizes | None] = {f"[{', '.join(map(str, general))}]": general}
    return found if len(tensors) == len(shown) else {**found, "...": None}


def _is_unknown(view: Value) -> bool:
    return not holds_tensor(view) and type(view).__name__ in ("Opaque", "Expr")


def layers_shown(layers: Layers, names: SymbolNames) -> ShownLayers:
    """The table of layers with texts for formulas."""
    rows = tuple(_row(row, names) for row in layers.rows)
    return ShownLayers(rows, *(_amount(each, names) for each in layers[1:]))


def _row(row: Layer, names: SymbolNames) -> ShownLayer:
    output = None if row.output is None else text_of(row.output, names)
    amounts = (_amount(each, names) for each in (row.parameters, row.bytes, row.multiply_adds))
    return ShownLayer(row.name, row.type, output, *amounts)


def _amount(amount: Dim | None, names: SymbolNames) -> int | str | None:
    shown = None if amount is None else names.dim(amount)
    return None if shown == UNKNOWN else shown
