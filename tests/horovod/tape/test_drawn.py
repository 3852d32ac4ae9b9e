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
