"""Files that are named after a step have the number of a rank's step now: another one that is written out is warned of."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

HEADS = {
    "session": """\
import os
import numpy as np
import tensorflow.compat.v1 as tf

data = np.ones((640, 4), np.float32)
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
update = tf.train.AdamOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(1000):
    sess.run(update, feed_dict={x: data[step % 80 * 8 : step % 80 * 8 + 8]})
""",
    "tape": """\
import os
import tensorflow as tf

dataset = tf.data.Dataset.from_tensor_slices((tf.ones([640, 4]), tf.ones([640, 1]))).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
optimizer = tf.keras.optimizers.SGD(0.1)
for step, (x, y) in enumerate(dataset):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
    "fit": """\
import os
import numpy as np
import tensorflow as tf

data = np.ones((640, 4), np.float32)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")
for step in range(1000):
    rows = np.random.randint(0, 640, 8)
    model.train_on_batch(data[rows], data[rows, :1])
""",
    "torch": """\
import os
import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, (x, y) in enumerate(DataLoader(TensorDataset(torch.ones(640, 4), torch.ones(640, 1)), batch_size=8)):
    optimizer.zero_grad()
    (model(x) - y).square().mean().backward()
    optimizer.step()
""",
}
SAVES = {
    "session": "saver.save(sess, {0})",
    "tape": "model.save_weights({0})",
    "fit": "model.save_weights({0})",
    "torch": "torch.save(model.state_dict(), {0})",
}
LOADS = {
    "session": "saver.restore(sess, {0})",
    "tape": "model.load_weights({0})",
    "fit": "model.load_weights({0})",
    "torch": "model.load_state_dict(torch.load({0}))",
}
NAMES = {
    "formatted": 'f"out/weights-{step}"',
    "filled in": '"out/weights-%d" % step',
    "filled in beside another": '"%s/weights-%05d" % ("out", step + 1)',
    "by format": '"out/weights-{}".format(step)',
    "put together": '"out/weights-" + str(step + 1)',
    "joined": 'os.path.join("out", f"weights-{step}")',
}
WRITTEN = {"as a text": '"out/weights-600"', "filled in": '"out/weights-%d" % 600', "alone": '"weights-600"'}
OTHERS = {
    "another stem": '"out/first-600"',
    "no number": '"out/weights-last"',
    "more behind": '"out/weights-600-old"',
}


def found(head: str, name: str, read: str) -> list[str]:
    """The warnings of a program that saves under one name every so often, and reads another."""
    text = HEADS[head] + f"    if step % 100 == 0:\n        {SAVES[head].format(name)}\n{LOADS[head].format(read)}\n"
    plan = outcome(text).plan
    assert not plan.refusals
    return [each.code for each in plan.warnings if each.code == "HVD314"]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("read", WRITTEN)
def test_a_name_that_is_written_out_is_warned_of(head: str, name: str, read: str) -> None:
    assert found(head, NAMES[name], WRITTEN[read]) == ["HVD314"]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("read", OTHERS)
def test_other_names_are_not(head: str, read: str) -> None:
    assert not found(head, NAMES["formatted"], OTHERS[read])


@pytest.mark.parametrize("head", HEADS)
def test_names_by_what_stays_are_not(head: str) -> None:
    name = 'f"out/weights-{len(os.listdir())}"'
    assert not found(head, name, WRITTEN["as a text"])


@pytest.mark.parametrize("default", ["out/dtn-600", "dtn-600"])
def test_the_step_that_a_saver_is_told_is_in_the_name(default: str) -> None:
    text = HEADS["session"].replace("saver =", f'tf.flags.DEFINE_string("restored", "{default}", "")\nsaver =')
    text += '    if step % 100 == 0:\n        saver.save(sess, os.path.join("out", "dtn"), global_step=step + 1)\n'
    text += "saver.restore(sess, tf.flags.FLAGS.restored)\n"
    assert [each.code for each in outcome(text).plan.warnings if each.code == "HVD314"] == ["HVD314"]


@pytest.mark.parametrize("step", ["step", "epoch"])
def test_turns_that_are_dealt_out_are_numbered_by_rank(step: str) -> None:
    text = (
        HEADS["fit"]
        .replace("for step", "for epoch in range(9):\n  for step")
        .replace("\n    rows = np.random.randint(0, 640, 8)", "")
    )
    text = text.replace("data[rows]", "data[step * 8 : step * 8 + 8]").replace(
        "data[rows, :1]", "data[step * 8 : step * 8 + 8, :1]"
    )
    text += f'    if step % 100 == 99:\n        model.save_weights(f"weights-{{{step}}}.h5")\n'
    text += 'model.load_weights("weights-7.h5")\n'
    codes = [each.code for each in outcome(text.replace("range(1000)", "range(80)")).plan.warnings]
    assert ("HVD314" in codes) == (step == "step")


def test_the_number_is_followed_into_functions() -> None:
    text = HEADS["session"].replace(
        "for step", "\n\ndef keep(folder, number):\n    saver.save(sess, f'{folder}/net-{number}')\n\n\nfor step"
    )
    text += "    if step % 100 == 0:\n        keep('out', step)\nsaver.restore(sess, 'out/net-600')\n"
    assert [each.code for each in outcome(text).plan.warnings if each.code == "HVD314"] == ["HVD314"]
