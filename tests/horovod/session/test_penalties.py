"""Gradients that an update applies are averaged once; those that are part of a loss belong to the batch of each rank."""

from __future__ import annotations

import pytest
from horovod.tape.test_ranks import rewritten

PROGRAM = """\
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

samples = np.ones([64, 4])
x = tf.placeholder(tf.float32, [None, 4])


def critic(given):
    with tf.variable_scope("critic", reuse=tf.AUTO_REUSE):
        return tf.layers.dense(given, 1)


cost = tf.reduce_mean(critic(x))
slopes = {slopes}
penalty = tf.reduce_mean((tf.sqrt(tf.reduce_sum(tf.square(slopes), 1)) - 1.0) ** 2)
loss = cost + 10.0 * penalty
optimizer = tf.train.AdamOptimizer(0.1)
{update}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        sess.run(train, {{x: samples[np.random.randint(0, 64, 8)]}})
"""
SLOPES = ("tf.gradients(critic(x), [x])[0]", "tf.gradients(critic(x), x)[0]", "tf.gradients([critic(x)], [x])[0]")
CLIPPED = "grads = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in optimizer.compute_gradients(loss)]"
DERIVED = "weights = tf.trainable_variables()\ngrads = tf.gradients(loss, weights)"
UPDATES = {
    "minimize": ("train = optimizer.minimize(loss)", 0),
    "compute and apply": ("train = optimizer.apply_gradients(optimizer.compute_gradients(loss))", 0),
    "clipped": (f"{CLIPPED}\ntrain = optimizer.apply_gradients(grads)", 0),
    "by tf.gradients": (f"{DERIVED}\ntrain = optimizer.apply_gradients(zip(grads, weights))", 1),
}


@pytest.mark.parametrize("slopes", SLOPES)
@pytest.mark.parametrize("way", UPDATES)
def test_a_penalty_stays_that_of_a_rank(slopes: str, way: str) -> None:
    update, averaged = UPDATES[way]
    source = rewritten(PROGRAM.format(slopes=slopes, update=update))
    assert f"slopes = {slopes}\n" in source, source
    assert source.count("hvd.allreduce(grad)") == averaged
