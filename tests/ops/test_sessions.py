"""Sessions of TensorFlow 1 against what real ones took and gave (`frameworks/record_sessions.py` wrote it)."""

from __future__ import annotations

import json
from bisect import bisect
from pathlib import Path
from typing import Any

import pytest

from interp.programs import errors_of, revealed

RECORD = json.loads((Path(__file__).parents[1] / "ops" / "frameworks" / "sessions-2.15.1.json").read_text("utf-8"))
HEAD = """import collections
import numpy as np
import tensorflow.compat.v1 as tf
from elsewhere import given
"""
WAYS = [
    "with tf.Session() as sess:\n        sess.run(y, {x: VALUE})",
    "sess = tf.Session()\n    feeds = {}\n    feeds[x] = VALUE\n    sess.run([y, x], feed_dict=feeds)",
    "with tf.Session() as sess:\n        for step in range(given):\n            _, out = sess.run([y, x], {x: VALUE})",
    "sess = tf.InteractiveSession()\n    y.eval(feed_dict={x: VALUE})",
]
CASE = """

def case_NUMBER():
    x = tf.placeholder(tf.float32, DECLARED)
    y = x * 2.0
    WAY
"""


@pytest.mark.parametrize("way", WAYS)
def test_what_may_be_fed(way: str) -> None:
    text, starts = HEAD, []
    for number, (declared, value, _) in enumerate(RECORD["fed"]):
        starts.append(text.count("\n"))
        case = CASE.replace("WAY", way).replace("VALUE", f"np.zeros({value})")
        text += case.replace("NUMBER", str(number)).replace("DECLARED", str(declared))
    found = {(bisect(starts, each.span.line - 1) - 1, each.code) for each in errors_of(text)}
    assert found == {(number, "SHP305") for number, (*_, taken) in enumerate(RECORD["fed"]) if not taken}


@pytest.mark.parametrize("value", ["given", "given.batch()", "np.load('x.npy')", "[given, given]", "feed_of(3)"])
def test_what_is_not_known_may_be_fed(value: str) -> None:
    text = f"{HEAD}x = tf.placeholder(tf.float32, [None, 4])\nwith tf.Session() as sess:\n    sess.run(x, {{x: {value}}})\n"
    assert errors_of(text) == []


def _leaves(fetch: str, value: Any) -> list[tuple[str, str]]:
    """The expressions that reach each array of what was fetched, and its shape."""
    if isinstance(value, dict) and list(value) == ["array"]:
        return [(fetch, f"ndarray{value['array']}")]
    keyed = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, item in keyed for leaf in _leaves(f"{fetch}[{key!r}]", item)]


@pytest.mark.parametrize(("fetch", "value"), RECORD["fetched"])
def test_what_a_run_gives_is_arranged_as_its_fetches(fetch: str, value: Any) -> None:
    leaves = _leaves("out", value)
    asked = "".join(f"reveal_shape({leaf})\n" for leaf, _ in leaves)
    text = f"{HEAD}{RECORD['graph']}\nsess = tf.Session()\nout = sess.run({fetch})\n{asked}"
    assert revealed(text) == [shape for _, shape in leaves]


def test_what_is_unpacked_otherwise_is_found() -> None:
    text = f"{HEAD}{RECORD['graph']}\nwith tf.Session() as sess:\n    one, two, three = sess.run([a, b])\n"
    assert [finding.code for finding in errors_of(text)] == ["SHP306"]


def test_open_sizes_may_be_others_in_each_run() -> None:
    text = (
        f"{HEAD}x = tf.placeholder(tf.float32, [None, 4])\nsess = tf.Session()\n"
        "one = sess.run(x, {x: np.zeros((3, 4))})\ntwo = sess.run(x, {x: np.zeros((5, 4))})\n"
        "one = one + np.zeros((3, 4))\ntwo = two + np.zeros((5, 4))\nreveal_shape(two)\n"
    )
    assert errors_of(text) == []
    assert revealed(text) == ["ndarray[5, 4]"]


def test_what_is_fed_says_how_large_a_result_is() -> None:
    text = (
        f"{HEAD}x = tf.placeholder(tf.float32, [None, 4])\ny = tf.concat([x, x], 0)\nsess = tf.Session()\n"
        "reveal_shape(sess.run(y, {x: np.zeros((3, 4))}))\nreveal_shape(sess.run(tf.zeros((2, 3)), {x: [[1, 2, 3, 4]]}))\n"
        "sess.run(y, {x: [[1, 2, 3]]})\n"
    )
    assert revealed(text) == ["ndarray[6, 4]", "ndarray[2, 3]"]
    assert [finding.code for finding in errors_of(text)] == ["SHP305"]
