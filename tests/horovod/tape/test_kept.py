"""What a model only keeps while it computes one batch is nothing that ranks combine."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf

which = int(input())


class Block(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4)
        self.parts = []

    def call(self, x):
        {begin}
        self.parts.append(x)
        x = tf.concat([self.dense(x), *self.parts], -1)
        {end}
        return x


class Plain(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4)

    def call(self, x):
        return self.dense(x)


def made():
    if which == 0:
        return Block()
    return {other}()


model = made()
optimizer = tf.keras.optimizers.SGD(0.1)
data = tf.data.Dataset.from_tensor_slices(np.ones([64, 4], "float32")).batch(8)
for epoch in range(3):
    for x in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    print(epoch)
model.save_weights("weights")
"""
EMPTIED = {
    "cleared behind": ("pass", "self.parts.clear()"),
    "deleted behind": ("pass", "del self.parts[:]"),
    "deleted as a whole": ("pass", "self.parts[:] = []"),
    "begun anew behind": ("pass", "self.parts = []"),
    "begun anew": ("self.parts = []", "pass"),
    "cleared in front": ("self.parts.clear()", "pass"),
}


@pytest.mark.parametrize("other", ["Block", "Plain"])
@pytest.mark.parametrize("way", EMPTIED)
def test_what_each_batch_empties_is_left(way: str, other: str) -> None:
    begin, end = EMPTIED[way]
    found = outcome(PROGRAM.format(begin=begin, end=end, other=other))
    (file,) = found.files.values()
    assert "model.parts" not in file.source, file.source
    assert not [each for each in found.plan.warnings if each.code == "HVD312"]


def test_what_only_one_of_several_models_keeps_is_warned_of() -> None:
    found = outcome(PROGRAM.format(begin="pass", end="pass", other="Plain"))
    (file,) = found.files.values()
    assert "model.parts" not in file.source, file.source
    assert [each.code for each in found.plan.warnings] == ["HVD312"]
