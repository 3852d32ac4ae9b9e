"""Runs sessions of TensorFlow 1 for real and writes what each took and gave.

`PYTHONPATH=tests PYTHON -m ops.frameworks.record_sessions OUT.json`, with a Python that has TensorFlow. A line of `fed` is a
placeholder's shape, a value's shape and whether the session took it; of `fetched`, an expression and the shapes it gave.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from typing import Any

DECLARED = [None, [], [None], [3], [None, 4], [3, 4], [3, None], [None, None], [2, None, 4]]
FED = [[], [3], [4], [3, 4], [5, 4], [3, 5], [1], [1, 4], [2, 7, 4], [2, 3, 5], [0, 4]]
FETCHED = ["a", "[a]", "[a, b]", "(a, b)", "[a, [b, c]]", "{'x': a, 'y': [b]}", "{'x': a}['x']", "[]", "Pair(a, c)"]
GRAPH = """
Pair = collections.namedtuple("Pair", ("first", "second"))
a = tf.zeros((3, 4))
b = tf.reduce_sum(a)
c = tf.zeros((5,), tf.int32)
"""


def told(value: Any) -> Any:
    """The shapes of what a run gave."""
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [told(item) for item in value]
    return {"array": list(value.shape)}


def main() -> None:
    """Write the record."""
    import collections

    import numpy as np
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    fed, names = [], {"tf": tf, "collections": collections}
    exec(GRAPH, names)
    with tf.Session() as session:
        for declared, given in product(DECLARED, FED):
            x = tf.placeholder(tf.float32, declared)
            try:
                session.run(x, {x: np.zeros(given)})
                fed.append([declared, given, True])
            except ValueError:
                fed.append([declared, given, False])
        fetched = [[text, told(session.run(eval(text, names)))] for text in FETCHED]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"graph": GRAPH, "fed": fed, "fetched": fetched}, file, indent=None, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
