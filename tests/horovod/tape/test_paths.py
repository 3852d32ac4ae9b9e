"""Methods are what their objects are, not what they are called: a `cache` of the program, bars and meters with an `update`."""

from __future__ import annotations

import re
from itertools import product

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import collections
import numpy as np
import tensorflow as tf
from tqdm import tqdm

base = tf.data.Dataset.from_tensor_slices(np.ones([64, 4], "float32"))


class Pipeline:
    def {own}(self, given):
        return given.shuffle(64)


data = {made}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
meter = {meter}
for {loop}:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    {told}
"""
OWN = ("cache", "batch", "take", "filter", "map", "prefetch")
METERS = {
    "a bar of Keras": ("tf.keras.utils.Progbar(8)", "meter.update(1, [('loss', loss)])"),
    "a bar of tqdm": ("tqdm(total=8)", "meter.update(1)"),
    "a meter of its own": ("Pipeline()", "meter.update(loss)"),
    "a metric": ("tf.keras.metrics.Mean()", "meter.update(loss)"),
    "none": ("None", "pass"),
}
LOOPS = (
    "x in data",
    "i, x in enumerate(data)",
    "x in tqdm(data)",
    "i, x in tqdm(enumerate(data), total=8)",
    "x in list(data)",
)
CASES = [(own, meter, loop) for own, (meter, loop) in zip(OWN * 5, product(METERS, LOOPS), strict=False)]


@pytest.mark.parametrize(("own", "meter", "loop"), CASES)
def test_datasets_alone_are_divided(own: str, meter: str, loop: str) -> None:
    made, told = METERS[meter]
    text = PROGRAM.format(own=own, made=f"Pipeline().{own}(base).batch(8)", meter=made, loop=loop, told=told)
    (file,) = outcome(text).files.values()
    assert file.source.count(".shard(hvd.size(), hvd.rank())") == 1, file.source
    assert not re.search(r"samples = (enumerate|tqdm|list)\(|str\(hvd.rank|apply\(lambda", file.source), file.source
