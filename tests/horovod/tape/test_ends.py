"""What ends the process by what a rank sees ends it on all ranks, also in a function that the loop calls for its step."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import os
import sys

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.1)


def update(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


class Trainer:
    def __init__(self):
        self.steps = 0

    def step(self, x):
        loss = update(x)
        {body}
        self.steps += 1


trainer = Trainer()
for x in tf.data.Dataset.from_tensor_slices(np.ones([64, 4], "float32")).batch(8):
    trainer.step(x)
"""
APART = ["if np.isnan(loss):", "if float(loss) > 1e9:", "if not np.isfinite(loss.numpy()):"]
ALIKE = ["if self.steps > 4:", "if len(sys.argv) > 2:"]
ENDS = ["exit()", "sys.exit(1)", "raise SystemExit", "os._exit(1)"]


def rewritten(test: str, ends: str) -> str:
    (file,) = outcome(PROGRAM.format(body=f"{test}\n            {ends}")).files.values()
    return file.source


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("test", APART)
def test_all_end_with_the_first(test: str, ends: str) -> None:
    asked = test.removeprefix("if ").removesuffix(":")
    assert f"if any(hvd.allgather_object(bool({asked}))):" in rewritten(test, ends)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("test", ALIKE)
def test_what_is_the_same_for_all_is_not_asked(test: str, ends: str) -> None:
    assert f"        {test}\n" in rewritten(test, ends)


def test_what_goes_on_is_not_asked() -> None:
    assert "        if np.isnan(loss):\n" in rewritten("if np.isnan(loss):", "print(x)")
