"""Ranks that take every n-th batch have shuffled the samples in one order, by whatever function the pipeline is made."""

from __future__ import annotations

import re

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf


def samples():
    yield from np.ones([64, 4], "float32")


{functions}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
options = tf.data.Options()
source = tf.data.Dataset.from_generator(samples, tf.float32)
{made}
for epoch in range(3):
    {inside}
    for batch in train:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
ENDS = ".shuffle(32).batch(8)"
PREPARED = f"def prepared(data, size=8):\n    data = data.map(tf.abs)\n    data = data{ENDS}\n    return data\n"
ONCE = {
    "in a chain": ("", f"data = source{ENDS}"),
    "step by step": ("", "data = source.shuffle(32)\ndata = data.batch(8)"),
    "a function": (PREPARED, "data = prepared(source)"),
    "a function that is applied": (PREPARED, "data = source.apply(prepared)"),
    "a lambda that is applied": ("", f"data = source.apply(lambda each: each{ENDS})"),
    "a lambda": (f"prepared = lambda each: each{ENDS}\n", "data = prepared(source)"),
    "a lambda of a function": (PREPARED, "data = source.apply(lambda each: prepared(each, 4))"),
    "a method": (
        "class Data:\n    def prepared(self, data):\n        return data.shuffle(32).batch(8)\n",
        "data = source.apply(Data().prepared)",
    ),
    "an attribute": (
        (
            "class Data:\n    def __init__(self, kept=False):\n        self.data = source\n"
            "        self.data = self.data.map(tf.abs)\n        if kept:\n            self.data = self.data.map(tf.square)\n"
            "        self.data = self.data.map(tf.abs)\n        self.data = self.data.map(tf.sqrt)\n"
            "        self.data = self.data.map(tf.exp)\n        self.data = self.data.shuffle(32)\n"
            "        self.data = self.data.batch(8)\n        if kept:\n            self.data = self.data.cache()\n\n"
            "    def given(self):\n        return self.data\n"
        ),
        "data = Data().given()",
    ),
    "an attribute that a method makes": (
        (
            "class Data:\n    def __init__(self):\n        self.data = None\n\n    def begin(self):\n"
            "        self.data = source.shuffle(32)\n        self.data = self.data.batch(8)\n"
        ),
        "held = Data()\nheld.begin()\ndata = held.data",
    ),
    "none at first": (
        "",
        f"data = None\nif len(source.element_spec):\n    data = source{ENDS}\nelse:\n    data = source{ENDS}",
    ),
}
AGAIN = {
    "in a chain": ("", f"source{ENDS}"),
    "a function": (PREPARED, "prepared(source)"),
    "a function that is applied": (PREPARED, "source.apply(prepared)"),
    "a lambda": (f"prepared = lambda each: each{ENDS}\n", "prepared(source)"),
    "a function around": (PREPARED + "\n\ndef outer(data):\n    return prepared(data)\n", "outer(source)"),
}


SPLIT = "train = data.take(6)\nrest = data.skip(6)\n"


def rewritten(functions: str, made: str, inside: str = "pass") -> str:
    (file,) = outcome(PROGRAM.format(functions=functions, made=made, inside=inside)).files.values()
    return file.source


@pytest.mark.parametrize("way", ONCE)
def test_a_dataset_is_shuffled_in_one_order(way: str) -> None:
    functions, made = ONCE[way]
    source = rewritten(functions, f"{made}\n{SPLIT}")
    assert "shuffle(32)" not in source and "seed=0" in source
    assert "data = None\nif" in source or "None" not in made
    assert "hvd.rank()).take(1)" in source


@pytest.mark.parametrize("way", AGAIN)
def test_one_that_is_made_for_each_epoch_has_another_order_each_time(way: str) -> None:
    functions, data = AGAIN[way]
    source = rewritten(functions, "", f"data = {data}\n    train = data.take(6)\n    rest = data.skip(6)")
    assert "shuffle(32)" not in source
    assert re.search(r"shuffle\(32, seed=hvd\.broadcast_object\((random\.)?getrandbits\(31\)\)\)", source)


def test_what_is_applied_to_other_data_too_is_divided_behind_it() -> None:
    judged = "for batch in source.apply(prepared):\n    print(batch.shape)"
    source = rewritten(PREPARED, f"{judged}\ntrain = source.apply(prepared)")
    assert "take(1)" not in source.partition("model = ")[0]
    assert "for batch in source.apply(prepared):" in source


ORDERS = {
    "options": "options.deterministic = False\ndata = source.map(tf.abs, num_parallel_calls=4).with_options(options).batch(8)",
    "options of old": "options.experimental_deterministic = False\n"
    "data = source.map(tf.abs, num_parallel_calls=4).batch(8).with_options(options)",
    "a map": "data = source.map(tf.abs, num_parallel_calls=4, deterministic=False).batch(8)",
}


@pytest.mark.parametrize("way", ORDERS)
def test_an_order_that_is_given_up_is_kept(way: str) -> None:
    source = rewritten("", f"{ORDERS[way]}\n{SPLIT}")
    assert "deterministic=False" not in source and "deterministic = False" not in source
    assert "deterministic = True" in source or "deterministic=True" in source
