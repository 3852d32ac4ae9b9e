"""Keras models of several inputs and outputs: data is refused exactly where every version of Keras refuses it
(`frameworks/record_structures.py` wrote what it did)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interp.programs import errors_of, revealed
from ops.frameworks.record_structures import GRAPH, program

RECORDS = sorted(Path(__file__).with_name("frameworks").glob("structures-*.json"))


def record(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_data_that_is_refused_is_found(path: Path) -> None:
    known = record(path)
    found = {
        (outputs, loss, inputs, labels): not errors_of(f"{known['head']}\n{program(outputs, loss, inputs, labels)}")
        for outputs, loss, inputs, labels, _ in known["trained"]
    }
    # Where versions differ, nothing tells which one runs the program.
    taken = {(*case,) for each in RECORDS for *case, was_taken in record(each)["trained"] if was_taken}
    assert found == {case: case in taken for case in found}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_prediction_is_arranged_as_the_outputs(path: Path) -> None:
    known = record(path)
    for outputs, inputs, value in known["predicted"]:
        leaves = [("out", value)]
        if list(value) != ["array"]:
            leaves = [
                (f"out[{key!r}]", part)
                for key, part in (value.items() if isinstance(value, dict) else enumerate(value))
            ]
        asked = "".join(f"reveal_shape({leaf})\n" for leaf, _ in leaves)
        text = f"{known['head']}\n{GRAPH}model = keras.Model([a, b], {outputs})\nout = model.predict({inputs})\n{asked}"
        assert revealed(text) == [f"ndarray{part['array']}" for _, part in leaves], (outputs, inputs)


@pytest.mark.parametrize(
    "data",
    ["[x], first", "(x, y), {'one': first}", "{'a': x}, first", "[[x, y]], first", "iter([x]), None", "x, [1, 2]"],
)
def test_data_that_is_arranged_otherwise_is_not_judged(data: str) -> None:
    text = f"import keras\n{GRAPH}model = keras.Model([a, b], one)\nmodel.compile('sgd', 'mse')\nmodel.fit({data})\n"
    assert errors_of(text) == []
