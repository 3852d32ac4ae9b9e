"""Trains Keras models of several inputs and outputs for real and writes which data they took and what they gave.

`PYTHONPATH=tests PYTHON -m ops.frameworks.record_structures HEAD OUT.json`, with a Python that has Keras; HEAD is how programs
import it ("from tensorflow import keras"). A line is the model's outputs, its loss, the data, and whether `fit` took them.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from typing import Any

GRAPH = """
import numpy as np

a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
h = keras.layers.concatenate([a, b])
one, two = keras.layers.Dense(2, name="one")(h), keras.layers.Dense(5, name="two")(h)
x, y = np.zeros((8, 4)), np.zeros((8, 3))
first, second, classes = np.zeros((8, 2)), np.zeros((8, 5)), np.zeros(8, int)
"""
INPUTS = ["[x, y]", "{'a': x, 'b': y}"]
MODELS = {
    "one": (["'mse'"], ["first", "second", "first[:7]", "classes"]),
    "[one, two]": (
        ["'mse'", "['mse', 'sparse_categorical_crossentropy']"],
        ["[first, second]", "[second, first]", "[first, classes]", "[first, second[:5]]", "[first[:, :1], second]"],
    ),
    "{'one': one, 'two': two}": (
        ["{'one': 'mse', 'two': 'categorical_crossentropy'}", "'mae'"],
        [
            "{'one': first, 'two': second}",
            "{'two': second, 'one': first}",
            "{'one': second, 'two': first}",
            "{'one': first, 'two': classes}",
        ],
    ),
}
"""The outputs of a model, losses and labels."""


def program(outputs: str, loss: str, inputs: str, labels: str) -> str:
    """One model and its data."""
    return (
        f"{GRAPH}model = keras.Model([a, b], {outputs})\nmodel.compile('sgd', {loss})\n"
        f"model.fit({inputs}, {labels}, verbose=0)\n"
    )


def told(value: Any) -> Any:
    """The shapes of what a prediction is."""
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    return [told(item) for item in value] if isinstance(value, list) else {"array": list(value.shape)}


def main() -> None:
    """Write the record."""
    head, names = sys.argv[1], dict[str, Any]()
    exec(head, names)
    trained, predicted = [], []
    for outputs, (losses, labels) in MODELS.items():
        for loss, inputs, label in product(losses, INPUTS, labels):
            try:
                exec(program(outputs, loss, inputs, label), dict(names))
                trained.append([outputs, loss, inputs, label, True])
            except Exception as error:
                print(type(error).__name__, outputs, loss, inputs, label, str(error)[-200:].replace("\n", " "))
                trained.append([outputs, loss, inputs, label, False])
        for inputs in INPUTS:
            made = dict(names)
            exec(f"{GRAPH}model = keras.Model([a, b], {outputs})\nout = model.predict({inputs}, verbose=0)", made)
            predicted.append([outputs, inputs, told(made["out"])])
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"head": head, "trained": trained, "predicted": predicted}, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
