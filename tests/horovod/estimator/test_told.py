"""What an estimator tells of its training is told by rank 0, and named where it is of the batches of rank 0."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf
from absl import logging

{level}


def measured(logits, labels):
    {within}
    return tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features["x"], 10)
    rate = tf.train.exponential_decay(0.1, tf.train.get_global_step(), 100, 0.9)
    loss = measured(logits, labels)
    {told}
    step = tf.train.AdamOptimizer(rate).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


images, labels = np.ones((100, 4), "float32"), np.ones(100, "int32")
model = tf.estimator.Estimator(model_fn, model_dir="run")
input_fn = tf.estimator.inputs.numpy_input_fn(x={{"x": images}}, y=labels, batch_size=10, num_epochs=None, shuffle=True)
model.train(input_fn, steps=1000)
"""
OF_ONE = {
    "a loss": {"told": "tf.summary.scalar('loss', loss)"},
    "what is computed of it": {"told": "tf.summary.scalar('root', tf.sqrt(loss))"},
    "what is computed of samples": {"told": "tf.summary.scalar('mean', tf.reduce_mean(features['x']))"},
    "by name": {"told": "tf.summary.scalar(name='loss', tensor=loss)"},
    "in a function": {"within": "tf.summary.scalar('size', tf.reduce_mean(tf.norm(logits, axis=1)))"},
}
OF_ALL = {
    "a rate": {"told": "tf.summary.scalar('rate', rate)"},
    "examples": {"told": "tf.summary.image('first', features['x'])"},
    "nothing": {},
}
LEVELS = (
    "tf.logging.set_verbosity(tf.logging.INFO)",
    "tf.compat.v1.logging.set_verbosity('INFO')",
    "logging.set_verbosity(1)",
)


def program(**parts: str) -> str:
    return PROGRAM.format(**{"level": "", "within": "pass", "told": "pass", **parts})


@pytest.mark.parametrize("way", OF_ONE)
def test_a_number_of_rank_zero_is_named(way: str) -> None:
    found = outcome(program(**OF_ONE[way]))
    assert [each.code for each in found.plan.warnings] == ["HVD313"]


@pytest.mark.parametrize("way", OF_ALL)
def test_what_all_ranks_have_is_not(way: str) -> None:
    assert not outcome(program(**OF_ALL[way])).plan.warnings


@pytest.mark.parametrize("level", LEVELS)
def test_the_library_logs_on_rank_zero(level: str) -> None:
    (file,) = outcome(program(level=level)).files.values()
    module, _, given = level.removesuffix(")").partition(".set_verbosity(")
    assert f"{module}.set_verbosity({given} if hvd.rank() == 0 else {module}.ERROR)" in file.source
