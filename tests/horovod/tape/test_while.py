"""A `while` loop takes as many times fewer turns as there are ranks where it counts them, in whatever way; else that is said."""

from __future__ import annotations

import re

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf
import yaml

cfg = yaml.safe_load(open("settings.yaml"))
total = cfg["total"]
epochs = cfg["epochs"]
per_epoch = cfg["samples"] // cfg["batch"]
data = iter(tf.data.Dataset.from_tensor_slices(np.ones([64, 4], "float32")).repeat().batch(8))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
step, epoch, best = 0, 1, 0.0
while {test}:
    x = next(data)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    {body}
"""
COUNT = "step += 1"
BY_EPOCH = "step += 1\n    epoch = step // per_epoch + 1"
TURNED = "step += 1\n    if step % per_epoch == 0:\n        epoch += 1"
SIZE = r" // hvd\.size\(\)"
WAYS = {
    "up to a number": ("step < total", COUNT, r"step < total" + SIZE),
    "up to a setting": ("step < cfg['total']", COUNT, r"step < cfg\['total'\]" + SIZE),
    "a number that is asked first": ("total > step", COUNT, r"total // hvd\.size\(\) > step"),
    "down to none": ("total - step > 0", COUNT, r"\(total // hvd\.size\(\)\) - step > 0"),
    "by epochs that are computed": ("epoch <= epochs", BY_EPOCH, r"epoch = step // \(per_epoch // hvd\.size\(\)\)"),
    "by epochs of a setting": ("epoch <= cfg['epochs']", BY_EPOCH, r"epoch = step // \(per_epoch // hvd\.size\(\)\)"),
    "by epochs that are counted": ("epoch <= epochs", TURNED, r"step % \(per_epoch // hvd\.size\(\)\) == 0"),
    "by parts of epochs": ("step / per_epoch < epochs", COUNT, r"step / \(per_epoch // hvd\.size\(\)\) < epochs"),
}
UNKNOWN = {
    "a loss": ("loss_is_large(model) < 0.5", COUNT),
    "the best so far": ("best < 0.9", "best = max(best, 1 - float(loss))"),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_counted_is_divided(way: str) -> None:
    test, body, wanted = WAYS[way]
    (file,) = outcome(PROGRAM.format(test=test, body=body)).files.values()
    assert re.search(wanted, file.source), file.source
    assert file.source.count("// hvd.size()") == 1 + file.source.count("// hvd.size() * hvd.size()"), file.source


@pytest.mark.parametrize("way", UNKNOWN)
def test_what_counts_nothing_is_told(way: str) -> None:
    test, body = UNKNOWN[way]
    found = outcome(PROGRAM.format(test=test, body=body))
    (file,) = found.files.values()
    assert "HVD303" in [each.code for each in found.plan.warnings]
    assert "0.5 //" not in file.source and "0.9 //" not in file.source


SAVES = ("cfg['save']", "cfg.save", "every", "FLAGS['save']['steps']", "2 * every")


@pytest.mark.parametrize("interval", SAVES)
def test_any_setting_says_how_often(interval: str) -> None:
    body = f"step += 1\n    if step % ({interval}) == 0:\n        model.save_weights('kept')"
    (file,) = outcome(PROGRAM.format(test="step < total", body=body)).files.values()
    assert re.search(r"step % \(?\(?max\(1, \(?" + re.escape(interval) + r"\)? // hvd\.size\(\)\)", file.source), (
        file.source
    )
