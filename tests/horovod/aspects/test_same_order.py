"""A rank takes its part of an order that all ranks draw alike, however it is drawn and wherever, in each kind of loop."""

from __future__ import annotations

import textwrap

import pytest
from horovod.torch.programs import outcome

HEAD = """\
import random
import numpy as np
import sklearn.utils
import tensorflow as tf

x, y = np.load("x.npy"), np.load("y.npy")
"""
STEPS = {
    "keras": """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer="sgd", loss="mse")


def step(a, b):
    model.train_on_batch(a, b)
""",
    "tape": """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
optimizer = tf.keras.optimizers.SGD(0.1)


def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(a) - b))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
""",
    "session": """
v1 = tf.compat.v1
p, q = v1.placeholder(tf.float32, [None, 4]), v1.placeholder(tf.float32, [None, 1])
train = v1.train.AdamOptimizer(0.1).minimize(tf.reduce_mean((v1.layers.dense(p, 1) - q) ** 2))
session = v1.Session()
session.run(v1.global_variables_initializer())


def step(a, b):
    session.run(train, {p: a, q: b})
""",
}
ORDERS = {
    "order = np.random.permutation(64)": ("np.random.seed(0)",),
    "order = np.arange(64)\nnp.random.shuffle(order)": ("np.random.seed(0)",),
    "order = list(range(64))\nrandom.shuffle(order)": ("random.seed(0)",),
    "order = random.sample(range(64), 64)": ("random.seed(0)",),
    "order = np.random.choice(64, 64, replace=False)": ("np.random.seed(0)",),
    "order = np.argsort(np.random.rand(64))": ("np.random.seed(0)",),
    "order = rng.permutation(64)": ("np.random.default_rng(0)",),
    "order = np.arange(64)\nrng.shuffle(order)": ("np.random.default_rng(0)",),
    "order = sklearn.utils.shuffle(np.arange(64))": ("random_state=0", "np.random.seed(0)"),
    "order = tf.random.shuffle(tf.range(64)).numpy()": ("seed=0",),
}
"""How an order is drawn, and what fixes that."""
PLACES = {
    "in the loop": """
for epoch in range(3):
    ORDER
    for i in range(0, 64, 8):
        part = order[i : i + 8]
        step(x[part], y[part])
""",
    "in a loop that counts batches": """
for epoch in range(3):
    ORDER
    for i in range(8):
        part = order[i * 8 : (i + 1) * 8]
        step(x[part], y[part])
""",
    "arranged arrays": """
for epoch in range(3):
    ORDER
    x, y = x[order], y[order]
    for i in range(0, 64, 8):
        step(x[i : i + 8], y[i : i + 8])
""",
    "split": """
for epoch in range(3):
    ORDER
    for part in np.split(order, 8):
        step(x[part], y[part])
""",
    "given by a function": """
def draw():
    ORDER
    return order


for epoch in range(3):
    order = draw()
    for i in range(0, 64, 8):
        part = order[i : i + 8]
        step(x[part], y[part])
""",
    "in a function": """
def run(x, y):
    ORDER
    for i in range(0, 64, 8):
        part = order[i : i + 8]
        step(x[part], y[part])


for epoch in range(3):
    run(x, y)
""",
    "in a generator": """
def batches():
    ORDER
    for i in range(0, 64, 8):
        yield x[order[i : i + 8]], y[order[i : i + 8]]


for epoch in range(3):
    for a, b in batches():
        step(a, b)
""",
    "a list of batches": """
def batches():
    ORDER
    return [(x[order[i : i + 8]], y[order[i : i + 8]]) for i in range(0, 64, 8)]


for epoch in range(3):
    for a, b in batches():
        step(a, b)
""",
    "an object that gives batches": """
class Data:
    def __iter__(self):
        ORDER
        for i in range(0, 64, 8):
            yield x[order[i : i + 8]], y[order[i : i + 8]]


data = Data()
for epoch in range(3):
    for a, b in data:
        step(a, b)
""",
}


def program(flow: str, place: str, order: str) -> str:
    made = "rng = np.random.default_rng()\n" if "rng." in order else ""
    lines = PLACES[place].splitlines(keepends=True)
    text = "".join(
        textwrap.indent(order, each[: each.index("ORDER")]) + "\n" if "ORDER" in each else each for each in lines
    )
    return HEAD + made + STEPS[flow] + text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("flow", STEPS)
def test_all_ranks_draw_one_order(flow: str, place: str) -> None:
    for order, fixed in ORDERS.items():
        result = outcome(program(flow, place, order))
        found = "".join(each.source for each in result.files.values())
        told = any(each.code == "HVD302" for each in result.plan.warnings)
        assert told or any(each in found for each in fixed), order
        assert not told or flow == "keras", order


SEEDED = {
    "np.random.seed(None)": "np.random.seed(0)",
    "np.random.seed()": "np.random.seed(0)",
    "seed = None\nnp.random.seed(seed)": "np.random.seed(0)",
    "seed = None\nif seed:\n    np.random.seed(seed)": "    np.random.seed(seed)",
    "seed = None\nif seed is not None:\n    np.random.seed(seed)": "    np.random.seed(seed)",
}


@pytest.mark.parametrize("seeded", SEEDED)
@pytest.mark.parametrize("flow", ["keras", "tape"])
def test_a_generator_that_is_told_to_begin_anywhere_begins_alike(flow: str, seeded: str) -> None:
    text = program(flow, "in the loop", "order = np.random.permutation(64)").replace("\nx, y", f"\n{seeded}\nx, y")
    (file,) = outcome(text).files.values()
    assert f"{SEEDED[seeded]}\nx, y" in file.source
