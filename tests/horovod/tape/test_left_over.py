"""What is left of the steps where a run is taken up again: the steps of a checkpoint are those of a rank."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
checkpoint = tf.train.Checkpoint(step=tf.Variable(0), model=model)
checkpoint.restore(tf.train.latest_checkpoint("out"))
samples = tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).repeat().shuffle(64).batch(8)
most = 1000
{left}
for x in samples.take({count}):
    checkpoint.step.assign_add(1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
STEPS = ["checkpoint.step.numpy()", "int(checkpoint.step)", "checkpoint.step", "optimizer.iterations.numpy()"]
FORMS = {
    "at once": ("", "most - {0}"),
    "in a variable": ("left = most - {0}", "left"),
    "not below zero": ("", "max(most - {0}, 0)"),
    "both": ("left = max(most - {0}, 0)", "left"),
    "the other way": ("left = max(0, most - {0})", "left"),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("form", FORMS)
def test_the_steps_of_all_are_divided_and_not_what_is_left(form: str, step: str) -> None:
    left, count = (each.format(step) for each in FORMS[form])
    (file,) = outcome(PROGRAM.format(left=left, count=count)).files.values()
    assert f"(most // hvd.size()) - {step}" in file.source
    assert file.source.count("most // hvd.size()") == 1 and "left // hvd.size()" not in file.source


def test_what_is_no_rest_is_divided_itself() -> None:
    (file,) = outcome(PROGRAM.format(left="left = max(most, 10)", count="left")).files.values()
    assert "take(left // hvd.size())" in file.source
