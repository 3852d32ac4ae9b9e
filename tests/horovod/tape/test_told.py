"""Whatever a loop tells of the batches of a rank is made that of all ranks, or it is said that it is not."""

from __future__ import annotations

from itertools import product

import pytest
from horovod.torch.programs import outcome

HEAD = """\
import logging
import numpy as np
import tensorflow as tf
from tqdm import tqdm

x = np.ones([64, 4], "float32")
y = np.ones([64, 1], "float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
squares = tf.keras.losses.MeanSquaredError()
mean = tf.keras.metrics.Mean()


def step(a, b):
    with tf.GradientTape() as tape:
        out = model(a, training=True)
        loss = squares(b, out)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    hits = tf.reduce_mean(tf.cast(tf.equal(out > 0, b > 0), tf.float32))
    return {gives}


for epoch in range(2):
    bar = tqdm(total=8)
    for i, (a, b) in enumerate(data):
        {got} = step(a, b)
        mean.update_state({first})
        {turn}
    {end}
"""
GIVEN = {
    "a loss": ("loss", "value", "value", "value"),
    "a loss and hits": ("loss, hits", "value, right", "value", "right"),
    "hits, then a loss": ("hits, loss", "right, value", "value", "right"),
    "a norm": ("loss, tf.linalg.global_norm(gradients)", "value, norm", "value", "norm"),
    "a dict": ("{'loss': loss, 'hits': hits}", "found", "found['loss']", "found['hits']"),
    "a list": ("[loss, hits]", "found", "found[0]", "found[1]"),
    "a metric": ("loss", "value", "value", "mean.result()"),
}
TOLD = {
    "in each iteration": ("print(epoch, i, float(WHAT))", "pass"),
    "now and then": ("if i % 2 == 0:\n            print(i, float(WHAT))", "pass"),
    "by a log": ("logging.info('%f', float(WHAT))", "pass"),
    "by a summary": ("tf.summary.scalar('told', WHAT, step=i)", "pass"),
    "by a bar": ("bar.set_postfix(told=float(WHAT))", "pass"),
    "by a bar's words": ("bar.set_description('%.3f' % float(WHAT))", "pass"),
    "behind": ("pass", "print(epoch, float(WHAT))"),
}


@pytest.mark.parametrize(("given", "told"), [*product(GIVEN, TOLD)])
def test_what_is_told_is_of_all_ranks_or_is_said(given: str, told: str) -> None:
    gives, got, first, what = GIVEN[given]
    turn, end = (each.replace("WHAT", what) for each in TOLD[told])
    found = outcome(HEAD.format(gives=gives, got=got, first=first, turn=turn, end=end))
    (file,) = found.files.values()
    combined = (
        f"{what.partition('[')[0]} = mean_of" in file.source or f"mean_of_each({what.partition('[')[0]}" in file.source
    )
    metric = "mean.variables" in file.source and "result" in what and told in ("now and then", "behind")
    said = [each.code for each in found.plan.warnings] == ["HVD313"]
    if given == "a norm":  # of gradients that are averaged: the same on all ranks
        assert not said and "norm = mean_of" not in file.source
        return
    assert (combined or metric) != said, file.source


QUIET = (
    "print(epoch, i)",
    "print(epoch, i, optimizer.learning_rate.numpy())",
    "print('begun')",
    "bar.update(1)",
    "print(x.shape)",
)


@pytest.mark.parametrize("turn", QUIET)
def test_nothing_is_said_of_what_all_ranks_have(turn: str) -> None:
    found = outcome(HEAD.format(gives="loss", got="value", first="value", turn=turn, end="print(mean.result())"))
    assert not found.plan.warnings


HANDED = """\
import tensorflow as tf
from data import data

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)


class Kept:
    def __init__(self, mean):
        self.mean = mean

    def step(self, a, b):
        return step(a, b, self.mean)


def step(a, b, seen):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(a, training=True) - b) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    seen.update_state(loss)


def outer(a, b, *, metric):
    step(a, b, seen=metric)


def main():
    mean = tf.keras.metrics.Mean()
    kept = Kept(mean)
    for epoch in range(2):
        for a, b in data.batch(8):
            {step}
        print(epoch, mean.result())
        mean.reset_state()


main()
"""
STEPS = ("step(a, b, mean)", "step(a, b, seen=mean)", "outer(a, b, metric=mean)", "step(seen=mean, a=a, b=b)")


@pytest.mark.parametrize("called", STEPS)
def test_a_metric_that_a_step_is_given_is_averaged(called: str) -> None:
    found = outcome(HANDED.format(step=called))
    (file,) = found.files.values()
    assert "for variable in mean.variables:\n            variable.assign(hvd.allreduce(variable))" in file.source
    assert not [each for each in found.plan.warnings if each.code == "HVD313"]


def test_a_metric_of_an_object_is_averaged_or_said() -> None:
    found = outcome(HANDED.format(step="kept.step(a, b)"))
    (file,) = found.files.values()
    assert ".variables" in file.source or [each.code for each in found.plan.warnings] == ["HVD313"]
