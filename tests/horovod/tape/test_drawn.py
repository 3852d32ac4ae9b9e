"""A batch is drawn in the loop that steps. What is read before it, by whoever calls that loop, is read once."""

from __future__ import annotations

import pytest
from horovod.tape.test_ranks import rewritten

PROGRAM = """\
import json
import random

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)


{reads}


def train(samples, steps):
    order = iter(tf.data.Dataset.from_tensor_slices(samples).repeat().batch(8))
    for step in range(steps):
        batch = next(order)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))


def main():
    settings = {{"steps": 100, "path": "samples.npy"}}
    {given}
    for epoch in range(3):
        train(samples, settings["steps"])


main()
"""
SAMPLES = "samples = read(settings)"
READS = {
    "settings that are filled": (
        [
            "found = json.load(open('settings.json'))",
            "for key in settings:",
            "    settings[key] = found[key]",
            "return settings",
        ],
        "settings = read(settings)\n    samples = np.load(settings['path'])",
    ),
    "samples": (["return np.load(settings['path'])"], SAMPLES),
    "samples by their places": (["kept = np.load(settings['path'])", "return kept[: len(settings)]"], SAMPLES),
    "samples in an order": (
        ["random.seed(1)", "kept = list(np.load(settings['path']))", "random.shuffle(kept)", "return kept"],
        SAMPLES,
    ),
}


@pytest.mark.parametrize("way", READS)
def test_what_is_read_before_the_loop_is_read_once(way: str) -> None:
    lines, given = READS[way]
    source = rewritten(PROGRAM.format(reads="\n    ".join(["def read(settings):", *lines]), given=given))
    assert "[read(" not in source, source
    assert ".shard(hvd.size(), hvd.rank())" in source or "next(order) for _ in range(hvd.size())" in source


SAMPLED = """\
import sys
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
optimizer = tf.keras.optimizers.SGD(0.1)


{sampling}


def main():
    data = tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(8)
    {begins}
    for batch in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    {ends}


{runs}
"""
CHAIN = """\
def sampled():
    x = tf.random.uniform([16, 4])
    for t in range(8):
        x = model(x) + tf.random.normal([16, 4])
    return x
"""
NOISE = {
    "pictures of fixed noise": ("", "noise = tf.random.normal([16, 4])", "print(model(noise))", "main()"),
    "noise in each turn of what samples": (CHAIN, "print(sampled())", "print(sampled())", "main()"),
    "noise in each turn of what is traced": (f"@tf.function\n{CHAIN}", "print(sampled())", "", "main()"),
    "what another command runs": (CHAIN, "", "", "run = {'train': main, 'sample': sampled}[sys.argv[1]]\nrun()"),
    "a data set of noise that is only read": (
        CHAIN,
        "for x in tf.data.Dataset.from_tensor_slices(tf.random.uniform([16, 4])).batch(4):\n        print(model(x))",
        "",
        "main()",
    ),
}


@pytest.mark.parametrize("what", NOISE)
def test_noise_that_is_not_trained_on_is_left_as_it_is(what: str) -> None:
    """A seed would give each turn of a traced loop the same noise, and is of use only where data are divided by what it draws."""
    sampling, begins, ends, runs = NOISE[what]
    assert "seed" not in rewritten(SAMPLED.format(sampling=sampling, begins=begins, ends=ends, runs=runs))


@pytest.mark.parametrize(
    "order", ["tf.random.shuffle(tf.range(64))", "tf.argsort(tf.random.uniform([64]))", "tf.random.normal([64, 4])"]
)
def test_data_that_are_drawn_are_drawn_alike(order: str) -> None:
    made = f"drawn = {order}"
    data = "drawn" if "normal" in order else "tf.gather(tf.ones([64, 4]), drawn)"
    text = SAMPLED.format(sampling="", begins="", ends="", runs="main()").replace(
        "    data = tf.data.Dataset.from_tensor_slices(tf.ones([64, 4]))",
        f"    {made}\n    data = tf.data.Dataset.from_tensor_slices({data})",
    )
    assert "seed=0" in rewritten(text)
