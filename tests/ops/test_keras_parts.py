"""The ways to the parts of Keras' layers and models: each gives what Keras 2.15 and 3.15 gave (`frameworks/keras_parts.py`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from interp.programs import errors_and_revealed
from ops.frameworks.keras_parts import CHANGED, HEAD, REFUSED, programs

RECORDS = sorted(Path(__file__).with_name("frameworks").glob("parts-*.json"))
OPEN = {
    "keras.Sequential.from_config(row.get_config())(x8)",
    "keras.Model.from_config(chain.get_config())(x8)",
    "layers.Dense.from_config(layers.Dense(5).get_config())(x8)",
    "np.zeros(2 + chain.trainable)",
    "np.zeros(2 + layers.Dense(3).built)",
    "np.zeros(len(layers.Dense(3).weights) + 1)",
    "keras.models.clone_model(blocked).get_weights()[0]",  # layers of the program say how they are made anew
    "keras.models.clone_model(called).get_weights()[0]",  # Keras 3 builds the copy, or not, by how the model was built
    "fresh = Own(6); fresh.build((None, 8)); reveal(fresh.one.kernel)",  # Keras 2 calls the model for it
}
"""Forms of which nothing is told, at least of some layers."""
UNFOLLOWED = ("PReLU", "axis=[1, 2]")
"""Layers whose weights are not known."""


def recorded(path: Path) -> Iterator[tuple[str, str, Any]]:
    """What stands before, a form, and the shape of what it gave: True where it revealed nothing, None where it failed."""
    given = json.loads(path.read_text("utf-8"))["given"]
    for (before, form), (again, shape) in zip(programs(), given, strict=True):
        assert form == again
        yield before, form, shape


def told(path: Path) -> Iterator[tuple[str, str, Any, str]]:
    """What is told of each form beside what it gave."""
    head = f"{json.loads(path.read_text('utf-8'))['head']}\n{HEAD}"
    for before, group in groupby(recorded(path), key=itemgetter(0)):
        forms = [(form, shape) for _, form, shape in group]
        apart = [each for each in forms if each[0] in (*CHANGED, *REFUSED)]
        asked = [each for each in forms if each not in apart and each[1] is not None]
        calls = [f"def f{place}():\n    reveal_shape({form})\nf{place}()" for place, (form, _) in enumerate(asked)]
        errors, said = errors_and_revealed("\n".join([f"{head}{before}", *calls]))
        assert not errors
        yield from ((before, form, shape, text) for (form, shape), text in zip(asked, said, strict=True))
        for form, shape in apart:
            errors, said = errors_and_revealed(f"{head}{before}{form.replace('reveal(', 'reveal_shape(')}\n")
            assert shape is None or not errors, form
            yield before, form, shape, "failed" if errors else said[0] if said else "nothing"


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_parts(path: Path) -> None:
    wrong, unknown = [], []
    # Where versions differ, nothing tells which one runs the program.
    of_all = [[shape for *_, shape in recorded(each)] for each in RECORDS]
    differing = {pair for pair, *shapes in zip(programs(), *of_all, strict=True) if shapes[0] != shapes[1]}
    for before, form, shape, text in told(path):
        shown = re.sub(r"^(Tensor|Parameter|ndarray)", "", text)
        expected = {True: "nothing", None: "failed"}.get(shape) if not isinstance(shape, list) else str(shape)
        if isinstance(shape, list) and "..." not in shown and shown.startswith("["):
            assert len(shown.split(", ")) == len(shape), (form, shown)
        if re.fullmatch(r"\[[\d, ]*\]|nothing|failed", shown):
            wrong += [form] * (shown != expected)
        elif (before, form) not in differing and not any(each in before.partition("\n")[0] for each in UNFOLLOWED):
            unknown.append(form)
    assert wrong == []
    assert set(unknown) <= OPEN


def test_what_is_refused_is_told_with_both_shapes() -> None:
    text = "import numpy as np\nimport keras\nlayer = keras.layers.Dense(4)\nlayer.build((None, 8))\n"
    errors, _ = errors_and_revealed(f"{text}layer.set_weights([np.zeros((4, 8)), np.zeros(4)])\n")
    assert [each.code for each in errors] == ["SHP305"]
    assert "[8, 4]" in errors[0].message and "[4, 8]" in errors[0].message


@pytest.mark.parametrize(
    "text",
    [
        "d.set_weights(arrays)",
        "q = keras.layers.Dense(5); q.build([8]); q(x8)",
        "q = keras.layers.Conv2D(5, 3); q.build((None, 1, 1, 3)); q(np.zeros((2, 9, 9, 3)))",
        "d.set_weights([arrays[0], np.zeros(3)])",
        "e = keras.layers.Embedding(n, 5, weights=[np.zeros((60, 5))]); e(x)",
        "m = keras.Sequential([d, wrapped(d)]); m.set_weights([np.zeros((8, 3))])",
        "d.trainable = flag; np.zeros((2, len(d.trainable_weights))) @ np.zeros((2, 3))",
        "for k in range(n):\n    d = keras.layers.Dense(k + 1); d(x8); d.set_weights([np.zeros((8, 3)), np.zeros(3)])",
        "c = keras.models.clone_model(keras.Sequential([keras.layers.Dense(4)])); c(x8)",
        "s = keras.Sequential([keras.layers.Dense(4)]); c = keras.models.clone_model(s); s(x8); c(np.zeros((2, 5)))",
    ],
)
def test_what_is_not_known_is_not_told(text: str) -> None:
    head = "import numpy as np\nimport keras\nfrom elsewhere import arrays, wrapped\nn, flag = int(input()), bool(input())\n"
    made = "d = keras.layers.Dense(3)\nd.build((None, 8))\nx, x8 = np.zeros((2, 3)), np.zeros((2, 8))\n"
    assert errors_and_revealed(f"{head}{made}{text}\n")[0] == []
