"""What is drawn before the training is the same on every rank, and what is drawn in it gives each rank samples of its own.

The rewritten programs are run for each of two ranks, each with global generators that begin elsewhere, on NumPy and with a
library that notes what it is given.
"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from horovod.fit.test_batches import run
from horovod.torch.programs import outcome

HEADS = {
    "fit": "import numpy as np\nimport tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse')\n",
    "session": "import numpy as np\nimport tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
    "p = tf.placeholder(tf.float32, [None, 1])\n"
    "step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.layers.dense(p, 1)))\nsess = tf.Session()\n"
    "sess.run(tf.global_variables_initializer())\n",
    "tape": "import numpy as np\nimport tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
    "optimizer = tf.keras.optimizers.SGD(0.1)\n\n\ndef update(x):\n    with tf.GradientTape() as tape:\n"
    "        loss = tf.reduce_mean(model.test_on_batch(x))\n"
    "    gradients = tape.gradient(loss, model.trainable_variables)\n"
    "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n\n\n",
}
STEPS = {"fit": "model.train_on_batch({0}, {0})", "session": "sess.run(step, {{p: {0}}})", "tape": "update({0})"}
DATA = "np.random.choice(80, 64, replace=False).reshape(-1, 1)"
WAYS = {
    "drawn at the top": f"x = {DATA}\nfor i in range(0, 64, 8):\n    STEP(x[i : i + 8])\n",
    "drawn in a function": f"def made():\n    return {DATA}\n\n\nx = made()\nfor i in range(0, 64, 8):\n    STEP(x[i : i + 8])\n",
    "drawn in a class": f"class Trainer:\n    def __init__(self):\n        self.x = {DATA}\n\n"
    "    def train(self):\n        for i in range(0, 64, 8):\n            STEP(self.x[i : i + 8])\n\n\nTrainer().train()\n",
    "an order for each epoch": "x = np.arange(64.0).reshape(-1, 1)\nfor epoch in range(1):\n"
    "    order = np.random.permutation(64)\n    for i in range(0, 64, 8):\n        STEP(x[order[i : i + 8]])\n",
    "an order in a class": "class Trainer:\n    def train(self):\n        x = np.arange(64.0).reshape(-1, 1)\n"
    "        for epoch in range(1):\n            order = np.random.permutation(64)\n            for i in range(0, 64, 8):\n"
    "                rows = order[i : i + 8]\n                STEP(x[rows])\n\n\nTrainer().train()\n",
    "a seed that some runs set": "def fixed():\n    np.random.seed(3)\n    return np.arange(64.0).reshape(-1, 1)\n\n\n"
    "x = np.arange(64.0).reshape(-1, 1)\nif len(x) < 8:\n    x = fixed()\nnp.random.shuffle(x)\n"
    "for i in range(0, 64, 8):\n    STEP(x[i : i + 8])\n",
    "a seed that is set if asked": "import sys\n\nx = np.arange(64.0).reshape(-1, 1)\nif '--alike' in sys.argv:\n"
    "    np.random.seed(3)\nnp.random.shuffle(x)\nfor i in range(0, 64, 8):\n    STEP(x[i : i + 8])\n",
    "drawn, then picked": f"x = {DATA}\nfor turn in range(24):\n    rows = np.random.randint(0, 64, 8)\n    STEP(x[rows])\n",
    "drawn and picked in a class": f"class Trainer:\n    def train(self, turns):\n        x = {DATA}\n"
    "        for turn in range(turns):\n            rows = np.random.randint(0, x.shape[0], 8)\n            STEP(x[rows])\n\n\n"
    "Trainer().train(24)\n",
}
CASES = [(way, flow) for way in WAYS for flow in HEADS]


def given(program: str, rank: int) -> list[list[float]]:
    """The batches that one rank trains on."""
    state = random.getstate(), np.random.get_state()
    np.random.seed(100 + rank)
    found: dict[str, list[Any]] = run(program, rank)
    random.setstate(state[0])
    np.random.set_state(state[1])
    calls = [*found.get("train_on_batch", []), *found.get("test_on_batch", [])]
    return [*(x for x, *_ in calls), *found.get("fed", [])]


@pytest.mark.parametrize(("way", "flow"), CASES)
def test_ranks_train_on_samples_of_their_own(way: str, flow: str) -> None:
    program = HEADS[flow] + re.sub(r"STEP\((.+)\)", lambda each: STEPS[flow].format(each[1]), WAYS[way])
    found = outcome(program)
    (file,) = found.files.values()
    one, other = (given(file.source, rank) for rank in (0, 1))
    assert len(one) == len(other) == (12 if "picked" in way else 4)
    if "picked" in way:
        assert not [each for each in one if each in other]
    else:
        assert len({each for batch in [*one, *other] for each in batch}) == 64


JUDGED = """\
import numpy as np
import tensorflow as tf


def batches(rows, own):
    while True:
        for _ in range(8):
            yield rows[{drawn}], rows[:8, :1]


def pick(rows):
    return np.random.randint(0, len(rows), 8)


rows = np.ones((64, 4))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit({training}, steps_per_epoch=8, validation_data={judged}, validation_steps=2)
"""
MADE = "batches(rows, np.random.RandomState({}))"


@pytest.mark.parametrize("drawn", ["np.random.randint(0, 64, 8)", "np.random.permutation(64)[:8]", "pick(rows)"])
def test_training_that_draws_in_turns_with_its_validation_is_warned_of(drawn: str) -> None:
    both = outcome(JUDGED.format(drawn=drawn, training=MADE.format(1), judged=MADE.format(2)))
    alone = outcome(JUDGED.format(drawn=drawn, training=MADE.format(1), judged="(rows, rows[:, :1])"))
    assert [each.code for each in both.plan.warnings] == ["HVD302"] and not alone.plan.warnings


def test_generators_of_their_own_draw_apart() -> None:
    found = outcome(JUDGED.format(drawn="own.randint(0, 64, 8)", training=MADE.format(1), judged=MADE.format(2)))
    assert not found.plan.warnings
