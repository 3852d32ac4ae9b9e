"""Batches that a session reads of a pipeline to be fed are dealt out in one order: each rank's graph shuffles alike."""

from __future__ import annotations

import pytest
from horovod.tape.test_ranks import rewritten

PROGRAM = """\
import numpy as np
import tensorflow as tf

samples = np.ones([64, 4], "float32")
{pipeline}
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense({given}, 1)))
step = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    {steps}
"""
READ = "batch = data.batch(8).make_one_shot_iterator().get_next()"
SHUFFLED = {
    "at once": f"data = tf.data.Dataset.from_tensor_slices(samples).shuffle(64)\n{READ}",
    "later": f"data = tf.data.Dataset.from_tensor_slices(samples)\ndata = data.shuffle(buffer_size=64).repeat()\n{READ}",
    "in a function": "def arranged(data, shuffle=True):\n    if shuffle:\n        data = data.shuffle(64)\n    return data\n\n\n"
    f"data = arranged(tf.data.Dataset.from_tensor_slices(samples))\n{READ}",
    "in a class": "class Data:\n    def __init__(self):\n        self.data = tf.data.Dataset.from_tensor_slices(samples)\n"
    "        self.data = self.data.shuffle(64)\n\n\ndata = Data().data\n" + READ,
    "and repeated": "data = tf.data.Dataset.from_tensor_slices(samples)\n"
    f"data = data.apply(tf.contrib.data.shuffle_and_repeat(64))\n{READ}",
    "and repeated, of a later version": "data = tf.data.Dataset.from_tensor_slices(samples)\n"
    f"data = data.apply(tf.data.experimental.shuffle_and_repeat(64, 3))\n{READ}",
}
STEPS = {
    "in turns": "for _ in range(100):\n        sess.run(step, {x: sess.run(batch)})",
    "by a variable": "for _ in range(100):\n        read = sess.run(batch)\n        sess.run(step, feed_dict={x: read})",
    "by evaluation": "for _ in range(100):\n        sess.run(step, {x: batch.eval()})",
}


@pytest.mark.parametrize("pipeline", SHUFFLED)
@pytest.mark.parametrize("steps", STEPS)
def test_what_is_read_to_be_fed_is_shuffled_alike(steps: str, pipeline: str) -> None:
    found = rewritten(PROGRAM.format(pipeline=SHUFFLED[pipeline], given="x", steps=STEPS[steps]))
    assert found.count("seed=0)") == 1


@pytest.mark.parametrize("seed", ["seed=3", "seed=args"])
def test_a_seed_that_is_given_stays(seed: str) -> None:
    pipeline = f"args = 5\ndata = tf.data.Dataset.from_tensor_slices(samples).shuffle(64, {seed})\n{READ}"
    assert "seed=0" not in rewritten(PROGRAM.format(pipeline=pipeline, given="x", steps=STEPS["in turns"]))


@pytest.mark.parametrize("pipeline", SHUFFLED)
def test_what_the_graph_takes_itself_is_divided_and_shuffled_by_each_rank(pipeline: str) -> None:
    steps = "for _ in range(100):\n        sess.run(step)"
    assert "seed=" not in rewritten(PROGRAM.format(pipeline=SHUFFLED[pipeline], given="batch", steps=steps))
