"""Recorded calls of TensorFlow and Keras, replayed on abstract values: `PYTHONPATH=tests python -m ops.recorded`.

The records in `frameworks/` were written by `ops.frameworks.record` in environments that have the libraries. What a call
gave must be in what distml says (else "wrong"); a call that worked must not be refused ("spurious"); one that raised should
be found. Sizes are taken as they are, as symbols, and as entirely unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from distml.ops import ShapeError
from distml.ops.dialect import library_of
from distml.shapes import Dim, Shape
from distml.values import ListRecord, Opaque, Tensor, Value

from ops.replay import Abstraction, Tally, derive, outcome, replay_failing, replay_valid, untrue_fact
from ops.world import ScratchWorld

RECORDS = Path(__file__).with_name("frameworks")
MODES = ("exact", "symbolic", "opaque")


class Array:
    """Stands for a real array: its shape and its kind of elements."""

    def __init__(self, shape: list[int], kind: str) -> None:
        self.shape = tuple(shape)
        self.dtype = kind


def real(value: Any) -> Any:
    """The value that a description in a record stands for."""
    if isinstance(value, list):
        return [real(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return Array(value["tensor"], value["kind"])
    if "tuple" in value:
        return tuple(real(item) for item in value["tuple"])
    return slice(*value["slice"]) if "slice" in value else Ellipsis


def lines(record: str) -> Iterator[dict[str, Any]]:
    """The calls of a record."""
    for line in (RECORDS / f"{record}.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)


def replayed(record: str, mode: str) -> Tally:
    """How the calls of a record come out."""
    tally = Tally()
    for line in lines(record):
        args = tuple(real(arg) for arg in line["args"])
        kwargs = {key: real(value) for key, value in line["kwargs"].items()}
        if "inputs" in line:
            _layer(tally, line, mode, args, kwargs)
        elif "gave" in line:
            replay_valid(tally, line["name"], mode, args, kwargs, real(line["gave"]))
        elif mode == "exact":
            replay_failing(tally, line["name"], args, kwargs, line["raised"])
    return tally


def _layer(tally: Tally, line: dict[str, Any], mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """One layer, made and called."""
    world = ScratchWorld()
    exact, lifted = Abstraction(world, "exact"), Abstraction(world, mode)
    what = f"{line['name']} {mode} {line['args']} {line['kwargs']} {line['inputs']} -> {line.get('gave', line.get('raised'))}"
    if "gave" not in line and mode != "exact":
        return
    try:
        layer = world.call(
            line["name"], *(exact(arg) for arg in args), **{key: exact(arg) for key, arg in kwargs.items()}
        )
        inputs = tuple(_input(lifted, sizes, library_of(line["name"])) for sizes in line["inputs"])
        made = world.apply(layer, (_listed(world, inputs) if len(inputs) > 1 else inputs[0],))
    except ShapeError as error:
        tally.note("spurious" if "gave" in line else "found", f"{what}: {error.message}")
        return
    if "gave" not in line:
        tally.note("missed", what)
        return
    derive(world, lifted.values)
    untrue = untrue_fact(world, lifted.values)
    tally.note(
        "wrong" if untrue else outcome(world, lifted.values, made, real(line["gave"])), f"{what}: {untrue or made}"
    )


def _input(lifted: Abstraction, sizes: list[int], lib: str) -> Value:
    if lifted.mode == "opaque":
        return Opaque("x", lifted.world.serial())
    made = lifted(Array(sizes, "float32"))
    assert isinstance(made, Tensor)
    return Tensor(lib, Shape(tuple(Dim.of(dim) for dim in made.shape.head)), made.dtype)


def _listed(world: ScratchWorld, inputs: tuple[Value, ...]) -> Value:
    return world.allocate(ListRecord(inputs))


def main() -> None:
    """Print the figures of all records."""
    columns = ("exact", "partial", "unknown", "wrong", "spurious", "found", "missed", "unbound", "crash")
    print("| Record | Sizes |", " | ".join(columns), "|\n|---|---|", "---|" * len(columns), sep="")
    for path in sorted(RECORDS.glob("*.jsonl")):
        for mode in MODES:
            counts = replayed(path.stem, mode).counts
            print(f"| {path.stem} | {mode} |", " | ".join(str(counts[column]) for column in columns), "|")


if __name__ == "__main__":
    main()
