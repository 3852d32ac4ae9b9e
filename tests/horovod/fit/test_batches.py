"""Batches cut by hand: whatever arrays are computed from each other, ranks train on other samples each, of what one process
trains on, with the labels that belong to them; what else is done with the arrays sees all of them.

The rewritten programs are run for each of two ranks on NumPy, with a library of models that notes what it is given.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from itertools import product
from typing import Any, Self

import numpy as np
import pytest
from horovod.torch.programs import outcome

HEAD = "import numpy as np\nimport tensorflow as tf\nnp.random.seed(1)\n"
MODEL = "model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])\nmodel.compile('sgd', 'mse')\n"
ARRAYS = {
    "labels of samples": "x = np.arange(1.0, 81.0).reshape(-1, 1)\ny = x * 3\n",
    "samples of labels": "y = np.arange(3.0, 243.0, 3.0).reshape(-1, 1)\nx = y / 3\n",
    "both of one": "table = np.stack([np.arange(1.0, 81.0), np.arange(3.0, 243.0, 3.0)], 1)\nx, y = table[:, :1], table[:, 1:]\n",
    "apart": "x = np.arange(1.0, 81.0).reshape(-1, 1)\ny = np.arange(3.0, 243.0, 3.0).reshape(-1, 1)\n",
    "in steps": "x = np.arange(1.0, 81.0).reshape(-1, 1)\nscaled = x * 6\ny = scaled / 2\n",
    "changed again": "x = np.arange(0.0, 80.0).reshape(-1, 1)\nx = x + 1\ny = x * 3\n",
    "by a function": "def labelled():\n    x = np.arange(1.0, 81.0).reshape(-1, 1)\n    return x, x * 3\n\nx, y = labelled()\n",
    "by a sum over all": "x = np.arange(1.0, 81.0).reshape(-1, 1)\ny = x * 3 + (x.sum() - 3240.0)\n",
}
STEP = "loss = model.train_on_batch(x[{0}], y[{0}])\n"
TURNS = {
    "to a number": "    for i in range(0, 64, 8):\n        " + STEP.format("i : i + 8"),
    "to the length": "    for i in range(0, len(x), 8):\n        " + STEP.format("i : i + 8"),
    "by a permutation of a number": "    p = np.random.permutation(64)\n    for i in range(0, 64, 8):\n        "
    + STEP.format("p[i : i + 8]"),
    "by a permutation of the length": "    p = np.random.permutation(len(x))\n    for i in range(0, len(x), 8):\n"
    "        rows = p[i : i + 8]\n        " + STEP.format("rows"),
    "counted": "    for i in range(x.shape[0] // 8):\n        " + STEP.format("i * 8 : (i + 1) * 8"),
    "counted to a number": "    for i in range(10):\n        " + STEP.format("i * 8 : (i + 1) * 8"),
    "measured before": "    for i in range(0, size, 8):\n        " + STEP.format("i : i + 8"),
    "in a function": "    for i in range(0, len(x), 8):\n        step(x[i : i + 8], y[i : i + 8])\n",
    "in a function that is told a number": "    for i in range(0, len(x), 8):\n        step_at(i)\n",
    "in a function that is told rows": "    p = np.random.permutation(64)\n    for i in range(0, 64, 8):\n"
    "        step_of(p[i : i + 8])\n",
    "in functions of functions": "    p = np.random.permutation(64)\n    for i in range(0, 64, 8):\n"
    "        rows = p[i : i + 8]\n        outer_step(rows)\n",
    "taken by a function": "    p = np.random.permutation(64)\n    for i in range(0, 64, 8):\n"
    "        step(taken(x, p[i : i + 8]), taken(y, p[i : i + 8]))\n",
}
FUNCTIONS = """
def step(a, b):
    return model.train_on_batch(a, b)


def step_at(start):
    a, b = x[start : start + 8], y[start : start + 8]
    return model.train_on_batch(a, b)


def step_of(rows):
    return model.train_on_batch(x[rows], y[rows])


def outer_step(rows):
    return inner_step(1, rows)


def inner_step(number, rows):
    return model.train_on_batch(x[rows], y[rows])


def taken(of, rows):
    return of[rows]


"""
JUDGED = {
    "nothing": "",
    "the rest": "    model.test_on_batch(x[64:], y[64:])\n",
    "all": "    model.test_on_batch(x, y)\n",
    "a part behind": "score = model.evaluate(x[:16], y[:16])\n",
}


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart: all arrays with all turns, and what is judged in its turn."""
    for number, ((made, arrays), (turned, turns)) in enumerate(product(ARRAYS.items(), TURNS.items())):
        judged = list(JUDGED)[number % len(JUDGED)]
        text = HEAD + arrays + "size = len(x)\n" * (turned == "measured before") + MODEL
        text += FUNCTIONS * ("function" in turned)
        yield f"{made}, {turned}, judged by {judged}", text + "for epoch in range(2):\n" + turns + JUDGED[judged]


class Library:
    """Whatever is asked of it; models note the arrays they are given."""

    def __init__(self, path: str, seen: dict[str, list[Any]], rank: int) -> None:
        self._path, self._seen, self._rank = path, seen, rank

    def __getattr__(self, name: str) -> Library:
        return Library(f"{self._path}.{name}", self._seen, self._rank)

    def __call__(self, *given: Any, **_: Any) -> Any:
        name = self._path.rpartition(".")[2]
        if name in ("rank", "local_rank", "size"):
            return 2 if name == "size" else self._rank
        if name == "run" and len(given) == 2:
            self._seen.setdefault("fed", []).extend(np.asarray(each).ravel().tolist() for each in given[1].values())
        if name in ("train_on_batch", "test_on_batch", "evaluate"):
            self._seen.setdefault(name, []).append([np.asarray(each).ravel().tolist() for each in given])
            return 0.5
        if name in ("list_physical_devices", "get_weights"):
            return []
        return Library(f"{self._path}()", self._seen, self._rank)

    def __mul__(self, _: Any) -> Library:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __iter__(self) -> Iterator[Library]:
        return iter(())


def run(text: str, rank: int) -> dict[str, list[Any]]:
    """What the models of a program are given, call by call."""
    seen: dict[str, list[Any]] = {}

    def found(name: str, outer: Any = None, inner: Any = None, wanted: Any = (), level: int = 0) -> Any:
        if name.partition(".")[0] in ("numpy", "itertools", "random"):
            return builtins.__import__(name, outer, inner, wanted, level)
        return Library(name if wanted else name.partition(".")[0], seen, rank)

    known = {**vars(builtins), "__import__": found, "print": lambda *_: None}
    state = np.random.get_state()
    exec(compile(text, "script", "exec"), {"__builtins__": known, "__name__": "script"})  # the text is made here
    np.random.set_state(state)
    return seen


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in programs()])
def test_ranks_train_on_parts_of_what_one_process_trains_on(program: str) -> None:
    (file,) = outcome(program).files.values()
    alone, *ranks = run(program, 0), run(file.source, 0), run(file.source, 1)
    whole = {each for x, _ in alone["train_on_batch"] for each in x}
    assert len(ranks[0]["train_on_batch"]) == len(ranks[1]["train_on_batch"]) == len(alone["train_on_batch"]) // 2
    for epoch in range(2):
        turns = len(ranks[0]["train_on_batch"]) // 2
        parts = [rank["train_on_batch"][epoch * turns : (epoch + 1) * turns] for rank in ranks]
        samples = [each for part in parts for x, _ in part for each in x]
        assert len(samples) == len(set(samples)) and set(samples) <= whole
        assert len(samples) == len(whole)
        assert [[3 * each for each in x] for part in parts for x, _ in part] == [y for part in parts for _, y in part]
    for name in ("test_on_batch", "evaluate"):
        assert ranks[0].get(name) == alone.get(name)


PICKS = {
    "the global one": ("", "np.random.randint(0, {size}, 8)"),
    "the global one, by choice": ("", "np.random.choice({size}, 8)"),
    "its own": ("rng = np.random.default_rng(3)\n", "rng.integers(0, {size}, 8)"),
    "its own without a seed": ("rng = np.random.default_rng()\n", "rng.integers(0, {size}, 8)"),
    "its own, of the older sort": ("rng = np.random.RandomState(seed=3)\n", "rng.randint(0, {size}, 8)"),
}
SIZES = ("64", "len(x)", "size")


def picking(made: str, drawn: str, size: str, arrays: str) -> str:
    """A program that draws its batches with replacement."""
    loop = "for turn in range(12):\n    rows = " + drawn.format(size=size) + "\n    " + STEP.format("rows")
    return HEAD + made + arrays + "size = len(x)\n" + MODEL + loop + "model.test_on_batch(x, y)\n"


@pytest.mark.parametrize(
    ("kind", "size", "arrays"), list(product(PICKS, SIZES, ("labels of samples", "by a sum over all")))
)
def test_ranks_draw_batches_apart_of_all_samples(kind: str, size: str, arrays: str) -> None:
    program = picking(*PICKS[kind], size, ARRAYS[arrays])
    (file,) = outcome(program).files.values()
    alone, *ranks = run(program, 0), run(file.source, 0), run(file.source, 1)
    drawn = [rank["train_on_batch"] for rank in ranks]
    assert len(drawn[0]) == len(drawn[1]) == len(alone["train_on_batch"]) // 2
    assert not [each for each in drawn[0] if each in drawn[1]]
    assert all(y == [3 * each for each in x] for part in drawn for x, y in part)
    assert ranks[0]["test_on_batch"] == alone["test_on_batch"]


def test_ranks_draw_apart_behind_what_was_shuffled_alike() -> None:
    mixed = ARRAYS["apart"] + "order = np.random.permutation(80)\nx, y = x[order][:64], y[order][:64]\n"
    program = picking("", "np.random.randint(0, {size}, 8)", "len(x)", mixed).replace("np.random.seed(1)\n", "")
    (file,) = outcome(program).files.values()
    ranks = [run(file.source, rank) for rank in range(2)]
    assert ranks[0]["test_on_batch"] == ranks[1]["test_on_batch"]
    assert not [each for each in ranks[0]["train_on_batch"] if each in ranks[1]["train_on_batch"]]


@pytest.mark.parametrize("seed", ["3", "", "None"])
def test_one_generator_for_what_is_alike_and_apart_is_refused(seed: str) -> None:
    made = f"rng = np.random.default_rng({seed})\nkept = rng.permutation(80)[:64]\n"
    found = outcome(picking(made, "rng.integers(0, {size}, 8)", "64", ARRAYS["apart"]))
    assert [each.code for each in found.plan.refusals] == ["HVD213"]


def test_batches_that_a_loop_moves_along_by_hand_are_refused() -> None:
    loop = "i = 0\nwhile i < 64:\n    " + STEP.format("i : i + 8") + "    i += 8\n"
    found = outcome(HEAD + ARRAYS["apart"] + MODEL + loop)
    assert [each.code for each in found.plan.refusals] == ["HVD213"]
