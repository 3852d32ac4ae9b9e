"""Turns that are dealt out: what is done at some of them is done in each round that has one, and what is drawn beside the
samples each rank draws for itself.

The rewritten programs are run for each of two ranks on NumPy, with a library that notes what it is given.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from horovod.fit.test_batches import run
from horovod.fit.test_drawn import HEADS
from horovod.torch.programs import outcome

LOOPS = {
    "fit": "x = np.arange(80.0).reshape(-1, 1)\nfor i in range(40):\n"
    "    model.train_on_batch(x[i * 2 : i * 2 + 2], x[i * 2 : i * 2 + 2])\n    if {0}:\n"
    "        model.test_on_batch(x[:1], x[:1])\n",
    "fit, numbered": "x = np.arange(80.0).reshape(-1, 1)\nfor epoch in range(1):\n    for k, i in enumerate(range(40)):\n"
    "        model.train_on_batch(x[i * 2 : i * 2 + 2], x[i * 2 : i * 2 + 2])\n        if {0}:\n"
    "            model.test_on_batch(x[:1], x[:1])\n",
    "tape": "x = np.arange(80.0).reshape(-1, 1)\nfor i in range(40):\n    update(x[i * 2 : i * 2 + 2])\n    if {0}:\n"
    "        model.evaluate(x[:1])\n",
    "tape, over items": "x = np.arange(80.0).reshape(-1, 1)\nfor i, rows in zip(range(40), np.split(x, 40)):\n    update(rows)\n"
    "    if {0}:\n        model.evaluate(x[:1])\n",
    "session": "judge = tf.reduce_sum(p)\nx = np.arange(80.0).reshape(-1, 1)\n"
    "for i, rows in zip(range(40), np.split(x, 40)):\n    sess.run(step, {{p: rows}})\n    if {0}:\n"
    "        sess.run(judge, {{p: x[:1]}})\n",
}
ASKED = (
    "i % 10 == 9",
    "i % 20 == 0",
    "(i + 1) % 3 == 0",
    "not i % 7",
    "i == 5",
    "i in (3, 8)",
    "i > 20",
    "i % 10 == 9 or i == 1",
)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("asked", ASKED)
def test_what_is_done_at_some_turns_is_left_out_by_no_rank(loop: str, asked: str) -> None:
    (file,) = outcome(HEADS[loop.partition(",")[0]] + LOOPS[loop].format(asked)).files.values()
    turns = [i for i in range(40) if eval(asked, {"i": i})]  # the text is written here
    for rank in (0, 1):
        found = run(file.source, rank)
        judged = (
            found.get("evaluate")
            or found.get("test_on_batch")
            or [each for each in found.get("fed", []) if len(each) == 1]
        )
        assert len(judged) == len({i // 2 for i in turns})


NOISE = {
    "drawn": "np.random.normal(size=(8, 1))",
    "of another library": "np.array([[random.random()] for _ in range(8)])",
    "by a function": "noise(8)",
    "computed of it": "np.abs(noise(8)) + np.random.uniform(0, 1, (8, 1))",
}
ORDERS = {
    "none": ("", "rows = slice(i, i + 8)"),
    "an order in front": ("order = np.random.permutation(64)\n", "rows = order[i : i + 8]"),
    "an order of each epoch": ("", "rows = order[i : i + 8]"),
    "a seed": ("np.random.seed(3)\nrandom.seed(3)\n", "rows = slice(i, i + 8)"),
}
PROGRAM = """\
import random


def noise(number):
    return np.random.normal(size=(number, 1))


x = np.arange(64.0).reshape(-1, 1)
{before}for epoch in range(1):
    {epoch}
    for i in range(0, 64, 8):
        {rows}
        drawn = {noise}
        model.train_on_batch(x[rows], drawn)
"""


def given(program: str, rank: int) -> list[Any]:
    """What one rank trains on, whose generators begin elsewhere than those of the other."""
    state = random.getstate(), np.random.get_state()
    np.random.seed(100 + rank)
    random.seed(100 + rank)
    found: list[Any] = run(program, rank)["train_on_batch"]
    random.setstate(state[0])
    np.random.set_state(state[1])
    return found


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("order", ORDERS)
def test_noise_beside_samples_is_of_each_rank(noise: str, order: str) -> None:
    before, rows = ORDERS[order]
    epoch = "order = np.random.permutation(64)" if order == "an order of each epoch" else "pass"
    text = HEADS["fit"] + PROGRAM.format(before=before, epoch=epoch, rows=rows, noise=NOISE[noise])
    (file,) = outcome(text).files.values()
    one, other = (given(file.source, rank) for rank in (0, 1))
    assert sorted(each for batch, _ in [*one, *other] for each in batch) == [*range(64)]
    assert not [each for _, each in one if each in [drawn for _, drawn in other]]


SEEDS = {
    "a number": "np.random.seed(3)\n",
    "none": "np.random.seed(None)\n",
    "nothing": "np.random.seed()\n",
    "a number, and none later": "np.random.seed(3)\nsplit = np.random.rand(4)\nnp.random.seed(None)\n",
    "none, and a number later": "np.random.seed(None)\nsplit = np.random.rand(4)\nnp.random.seed(3)\n",
    "what is asked for": "seed = dict().get('seed')\nif seed is not None:\n    np.random.seed(seed)\n",
    "a setting that is none": "SEED = None\nif SEED:\n    np.random.seed(SEED)\n",
    "in a function": "def fix(value):\n    np.random.seed(value)\n\n\nfix(3)\n",
    "in a class": "class Settings:\n    def __init__(self, value):\n        np.random.seed(value)\n\n\nSettings(3)\n",
}


@pytest.mark.parametrize("seed", SEEDS)
def test_each_rank_has_a_seed_of_its_own(seed: str) -> None:
    text = HEADS["fit"] + SEEDS[seed] + "x = np.arange(64.0).reshape(-1, 1)\nfor turn in range(24):\n"
    text += "    rows = np.random.randint(0, 64, 8)\n    model.train_on_batch(x[rows], x[rows])\n"
    (file,) = outcome(text).files.values()
    one, other = (given(file.source, rank) for rank in (0, 1))
    assert len(one) == len(other) == 12 and not [each for each in one if each in other]
