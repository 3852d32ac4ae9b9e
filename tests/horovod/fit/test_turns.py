"""Loops of `train_on_batch` that draw their batches: as many turns of all ranks together, and what else is done as often."""

from __future__ import annotations

import pytest
from horovod.tape.test_ranks import rewritten
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf
import matplotlib.pyplot as plt


class Pair:
    def __init__(self):
        self.maker = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(4,))])
        self.judge = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
        self.judge.compile("adam", "mse")

    def train(self, data, turns, every=50):
        {loop}:
            rows = np.random.randint(0, len(data), 8)
            self.judge.train_on_batch(data[rows], np.ones((8, 1)))
            {then}

    def show(self, turn):
        plt.imshow(self.maker.predict(np.random.normal(0, 1, (16, 4))))
        plt.savefig(f"{{turn}}.png")


Pair().train(np.ones((64, 4)), 1000)
"""
LOOPS = {
    "for i in range(turns)": "for i in range(turns // hvd.size())",
    "for i in range(1, turns + 1)": "for i in range(1, turns // hvd.size() + 1)",
    "for i in range(10, turns)": "for i in range(10, 10 + (turns - 10) // hvd.size())",
    "for i in range(1000)": "for i in range(1000 // hvd.size())",
}
THEN = {
    "if i % every == 0:": "if i % max(1, every // hvd.size()) == 0:",
    "if (i + 1) % 50 == 0:": "if (i + 1) % max(1, 50 // hvd.size()) == 0:",
    "if i == 400:": "if i == 400 // hvd.size():",
    "if i in (100, 500):": "if i in [(each + hvd.size() - 1) // hvd.size() for each in (100, 500)]:",
}
ACTS = ("self.show(i)", 'self.maker.save_weights("m.h5")', "print(self.judge.evaluate(data, np.ones((64, 1))))")


@pytest.mark.parametrize("loop", LOOPS)
def test_all_ranks_together_take_as_many_turns(loop: str) -> None:
    assert f"{LOOPS[loop]}:" in rewritten(PROGRAM.format(loop=loop, then="pass"))


@pytest.mark.parametrize("then", THEN)
@pytest.mark.parametrize("act", ACTS)
def test_what_is_done_every_so_many_turns_comes_as_often(act: str, then: str) -> None:
    text = PROGRAM.format(loop="for i in range(turns)", then=f"{then}\n                {act}")
    assert THEN[then] in rewritten(text)


@pytest.mark.parametrize("then", THEN)
def test_what_is_only_told_stays(then: str) -> None:
    assert then in rewritten(PROGRAM.format(loop="for i in range(turns)", then=f"{then}\n                print(i)"))


HELD = """\
import numpy as np


class Trainer:
    def __init__(self, model, other):
        self.model, self.other = model, other
        self.model.compile("adam", "mse")

    def train(self, data):
        for i in range(100):
            self.model.train_on_batch(data[np.random.randint(0, 64, 8)], np.ones((8, 1)))
        {then}


def learn(net, data):
    net.fit(data, data)
    net.save("net.h5")
"""


@pytest.mark.parametrize("call", ['self.model.save("m.h5")', 'self.model.save("m.h5", include_optimizer=False)'])
def test_a_model_that_a_class_is_given_is_saved_by_rank_zero(call: str) -> None:
    found = outcome("import tensorflow as tf\n" + HELD.format(then=call))
    text = next(iter(found.files.values())).source
    assert f"        if hvd.rank() == 0:\n            {call}" in text


def test_what_does_not_learn_is_saved_as_before() -> None:
    found = outcome("import tensorflow as tf\n" + HELD.format(then='self.other.save("o")'))
    assert '\n        self.other.save("o")' in next(iter(found.files.values())).source


LEAST = """\
import numpy as np
import tensorflow as tf


def batches(rows, size):
    while True:
        for at in range(0, len(rows), size):
            yield rows[at : at + size], rows[at : at + size, :1]


rows, size = np.ones((64, 4)), 8
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(batches(rows, size), steps_per_epoch={steps})
"""


@pytest.mark.parametrize("steps", ["max(1, len(rows) // size)", "max(len(rows) // size, 1)"])
def test_a_number_of_steps_of_at_least_one_stays_that(steps: str) -> None:
    (file,) = outcome(LEAST.format(steps=steps)).files.values()
    assert f"steps_per_epoch=max(1, {steps} // hvd.size())" in file.source


MEANS = """\
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")
data = np.random.rand(64, 4)
turns, others = 50, 50
loss = 0
for i in range({turns}):
    rows = np.random.randint(0, 64, 8)
    {added}
print({told})
"""
ADDED = [
    "loss += model.train_on_batch(data[rows], np.ones((8, 1)))",
    "loss = np.add(model.train_on_batch(data[rows], np.ones((8, 1))), loss)",
    "loss = loss + model.train_on_batch(data[rows], np.ones((8, 1)))",
]
TOLD = {
    "loss / turns": "loss / (turns // hvd.size())",
    "loss / (turns * 2)": "loss / ((turns // hvd.size()) * 2)",
    "loss / (2 * turns * 3)": "loss / (2 * (turns // hvd.size()) * 3)",
    "loss / 50": "loss / (50 // hvd.size())",
    "loss / (50 * 2)": "loss / ((50 // hvd.size()) * 2)",
    "loss / others": "loss / others",
    "others / 50": "others / 50",
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("added", ADDED)
def test_a_mean_over_the_turns_is_one_over_those_of_the_rank(added: str, told: str) -> None:
    turns = "turns" if "turns" in told or "others" in told.split(" / ")[1] else "50"
    (file,) = outcome(MEANS.format(turns=turns, added=added, told=told)).files.values()
    assert f"print({TOLD[told]})\n" in file.source
