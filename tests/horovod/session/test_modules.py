"""Sessions of programs in several modules: what is done in a module beside the one that trains."""

from __future__ import annotations

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.project import Project
from distml.training.program import Program

MAIN = """
import numpy as np
import tensorflow as tf
from beside import load, save_images, save_sound

data = load()
x = tf.placeholder(tf.float32, [None, 8])
y = tf.layers.dense(x, 8)
loss = tf.reduce_mean(tf.square(y - x))
step = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(1000):
        sess.run(step, {x: np.random.rand(8, 8)})
        if i % 100 == 0:
            save_images(sess.run(y, {x: data[:8]}), "made.png")
            save_sound(sess.run(y, {x: data[:8]}), "made.wav")
"""
BESIDE = """
import os
from urllib.request import urlretrieve
import numpy as np
import scipy.misc
from scipy.io import wavfile


def maybe_download():
    if not os.path.exists("x.npy"):
        urlretrieve("https://example.com/x.npy", "x.npy")
        scipy.misc.imsave("first.png", np.load("x.npy"))


def load():
    maybe_download()
    return np.load("x.npy")


def merge(images):
    whole = np.zeros((8, 64))
    for i, image in enumerate(images):
        whole[:, i * 8 : i * 8 + 8] = image
    return whole


def save_sound(sound, path):
    wavfile.write(path, 8000, np.clip(sound, -1, 1))


def save_images(images, path):
    return imsave(images, path)


def imsave(images, path):
    image = np.squeeze(merge(images))
    return scipy.misc.imsave(path, image)
"""


def rewritten() -> tuple[str, str]:
    """What becomes of both modules."""
    project = Project("/nowhere", overlay={"/nowhere/a.py": MAIN.encode(), "/nowhere/beside.py": BESIDE.encode()})
    program = Program([project.open("a.py")], project)
    texts = {each: BESIDE if each.endswith("beside.py") else MAIN for each in program.units}
    outcome = rewrite(program, Options(), texts, texts)
    assert not outcome.plan.warnings
    main, beside = sorted(outcome.files)
    return outcome.files[main].source, outcome.files[beside].source


def test_a_download_of_a_module_without_tensorflow_is_waited_for_where_it_is_called() -> None:
    main, beside = rewritten()
    before, _, after = main.partition("data = load()\n")
    assert before.rpartition("if ")[2].startswith("hvd.local_rank() != 0:\n    with tf.Graph()")
    assert after.startswith("if hvd.local_rank() == 0:\n    with tf.Graph()")
    assert "local_rank" not in beside


def test_pictures_and_sounds_that_another_module_writes_during_the_training_are_written_by_rank_zero() -> None:
    _, beside = rewritten()
    assert (
        "    if not hvd.is_initialized() or hvd.rank() == 0:\n        wavfile.write(path, 8000, np.clip(sound, -1, 1))\n"
        in beside
    )
    assert (
        "    return scipy.misc.imsave(path, image) if not hvd.is_initialized() or hvd.rank() == 0 else None\n" in beside
    )
    assert '\n        scipy.misc.imsave("first.png", np.load("x.npy"))\n' in beside


ESTIMATOR = """
import tensorflow as tf
from six.moves import urllib


def input_fn():
    path, _ = urllib.request.urlretrieve("https://example.com/x.csv", "x.csv")
    return tf.data.TextLineDataset(path).repeat().batch(32)


def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.square(tf.layers.dense(features, 1)))
    step = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def main(_):
    estimator = tf.estimator.Estimator(model_fn, "made")
    train = tf.estimator.TrainSpec(input_fn, max_steps=1000)
    {}


tf.app.run()
"""


@pytest.mark.parametrize("together", [True, False])
def test_an_input_function_waits_only_where_all_ranks_call_it_at_the_same_time(together: bool) -> None:
    code = "tf.estimator.train_and_evaluate(estimator, train, tf.estimator.EvalSpec(input_fn))"
    text = ESTIMATOR.format("estimator.train(input_fn, steps=1000)" if together else code)
    project = Project("/nowhere", overlay={"/nowhere/a.py": text.encode()})
    source = project.open("a.py")
    outcome = rewrite(Program([source], project), Options(), [source.location], {source.location: text})
    assert ("waiting.run" in outcome.files[source.location].source) is together
    assert ("HVD307" in {each.code for each in outcome.plan.warnings}) is not together
