"""Rewritten Keras programs on two real processes: equal weights, the loss of one process with the large batch."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from distml.rewrites.horovod.options import Options as Asked
from distml.rewrites.horovod.rewrite import rewrite_text
from distml.smoke.model import Options
from distml.smoke.report import as_text

from smoke.environments import horovod_python
from smoke.smoked import smoked

HEAD = """
import numpy as np
from tensorflow import keras

numbers = np.random.RandomState(0)
x = numbers.rand(130, 6).astype("float32")
y = (x.sum(axis=1) > 3).astype("int32")
"""

FIT = """
class Warmup(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak):
        super().__init__()
        self.peak = peak

    def __call__(self, step):
        return self.peak / (1.0 + 0.0 * float(1))


def build():
    model = keras.Sequential([keras.layers.Dense(8, "relu", input_shape=(6,)), keras.layers.Dense(2, "softmax")])
    model.compile(keras.optimizers.SGD(Warmup(0.05)), "sparse_categorical_crossentropy", ["accuracy"])
    return model


model = build()
stop = keras.callbacks.EarlyStopping("loss", patience=3)
best = keras.callbacks.ModelCheckpoint("best.weights.h5", save_weights_only=True)
history = model.fit(x, y, 16, 2, callbacks=[stop, best], validation_split=0.2, verbose=2)
again = build()
again.load_weights("best.weights.h5")
print(history.history["loss"], again.evaluate(x, y, verbose=0))
"""

BATCHES = """
import tensorflow as tf

discriminator = keras.Sequential([keras.layers.Dense(1, "sigmoid", input_shape=(6,))])
discriminator.compile("adam", "binary_crossentropy")
generator = keras.Sequential([keras.layers.Dense(6, input_shape=(3,))])
discriminator.trainable = False
combined = keras.Sequential([generator, discriminator])
combined.compile(keras.optimizers.legacy.Adam(0.001), "binary_crossentropy")
for epoch in range(2):
    for number in range(len(x) // 16):
        real = x[number * 16 : number * 16 + 16]
        noise = np.random.normal(size=(16, 3)).astype("float32")
        loss = discriminator.train_on_batch(real, np.ones((16, 1)))
        combined.train_on_batch(noise, np.ones((16, 1)))
    print(epoch, loss)
"""

STEP = """
import tensorflow as tf


class Net(keras.Model):
    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=targets, y_pred=self(inputs, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


inputs = keras.Input((6,))
model = Net(inputs, keras.layers.Dense(2, "softmax")(inputs))
model.compile(loss="sparse_categorical_crossentropy", optimizer="sgd")
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(16), epochs=2)
model.save("model.keras")
"""


@pytest.mark.parametrize("program", [FIT, BATCHES, STEP], ids=["fit", "batches", "step"])
def test_two_processes_learn_as_one(program: str, tmp_path: Path) -> None:
    python = horovod_python("tensorflow")
    script = tmp_path / "script.py"
    script.write_text(dedent(HEAD + program), encoding="utf-8")
    outcome = rewrite_text(str(script), Asked())
    assert not outcome.plan.refusals
    (rewritten,) = outcome.files.values()
    options = Options(np=2, steps=6, timeout=900, stall=200, compare=program is FIT)
    report = smoked(rewritten.before, rewritten.source, python=python, options=options)
    assert report.ok, as_text(report)
    found = {verdict.name: verdict.status for verdict in report.verdicts}
    assert {found[each] for each in ("finished", "collectives", "weights")} == {"passed"}, as_text(report)
