"""Rewritten programs of TensorFlow 1 in two real processes: equal weights, equal collectives, data that is shared out."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.smoke.model import Options as Run
from distml.smoke.report import as_text
from distml.source.project import Project
from distml.training.program import Program

from smoke.environments import horovod_python
from smoke.smoked import smoked

HEAD = """\
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
data = np.linspace(-1, 1, 256, dtype="float32").reshape(64, 4)
labels = data.sum(1, keepdims=True)
"""
FED = """
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
"""
GRAPH = """
loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.layers.dense(x, 8, tf.nn.tanh), 1) - y))
count = tf.train.get_or_create_global_step()
"""
SLICES = f"""{HEAD}{FED}{GRAPH}
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(4):
        for i in range(len(data) // 8):
            sess.run([step, loss], feed_dict={{x: data[i * 8 : i * 8 + 8], y: labels[i * 8 : i * 8 + 8]}})
"""
CLIPPED = f"""{HEAD}{FED}{GRAPH}
rate = tf.train.exponential_decay(0.1, count, 100, 0.9)
grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tf.trainable_variables()), 1.0)
optimizer = tf.train.MomentumOptimizer(rate, 0.9)
step = optimizer.apply_gradients(zip(grads, tf.trainable_variables()), global_step=count)
sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
for begin in list(range(0, 64, 8)) * 4:
    step.run(feed_dict={{x: data[begin : begin + 8], y: labels[begin : begin + 8]}})
"""
MONITORED = f"""{HEAD}
pairs = tf.data.Dataset.from_tensor_slices((data, labels)).repeat().batch(8)
x, y = tf.data.make_one_shot_iterator(pairs).get_next()
{GRAPH}
step = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=count)
with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=40)]) as sess:
    while not sess.should_stop():
        sess.run([step, loss])
"""
ESTIMATOR = f"""{HEAD}

def model_fn(features, labels, mode):
    outputs = tf.layers.dense(tf.layers.dense(features["x"], 8, tf.nn.tanh), 1)
    loss = tf.reduce_mean(tf.square(outputs - labels))
    step = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


model = tf.estimator.Estimator(model_fn, model_dir="run")
inputs = tf.estimator.inputs.numpy_input_fn({{"x": data}}, labels, batch_size=8, num_epochs=None, shuffle=True)
model.train(inputs, steps=40)
"""


def rewritten(program: str, path: Path) -> str:
    project = Project(str(path.parent), overlay={str(path): program.encode()})
    source = project.open(str(path))
    return (
        rewrite(Program([source], project), Options(), [source.location], {source.location: program})
        .files[source.location]
        .source
    )


@pytest.mark.parametrize("name", ["SLICES", "CLIPPED", "MONITORED", "ESTIMATOR"])
def test_two_processes_train_one_model(name: str, tmp_path: Path) -> None:
    program = globals()[name]
    options = Run(np=2, steps=4, timeout=900, stall=200, compare=name == "SLICES")
    python = horovod_python("tensorflow")
    report = smoked(program, rewritten(program, tmp_path / "script.py"), python=python, options=options)
    assert not [each for each in report.verdicts if each.status == "failed"], as_text(report)
    assert {"finished", "collectives", "start", "weights"} <= {
        each.name for each in report.verdicts if each.status == "passed"
    }, as_text(report)
