"""What a session's step reads in the graph is divided, whatever it is fed beside; and texts for a log are no numbers."""

from __future__ import annotations

from itertools import product

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.contrib.data import map_and_batch, shuffle_and_repeat


class Model:
    def __init__(self, sess, custom):
        self.sess, self.custom = sess, custom
        self.data = np.ones((64, 4), np.float32)

    def build(self):
        {choice}
            data = tf.data.Dataset.from_tensor_slices(self.data){rest}
            self.x = data.make_one_shot_iterator().get_next()
        {otherwise}
        self.z = tf.placeholder(tf.float32, [None, 4])
        self.loss = tf.reduce_mean(tf.layers.dense(self.x + self.z, 1))
        self.step = tf.train.AdamOptimizer(0.1).minimize(self.loss)

    def train(self):
        self.sess.run(tf.global_variables_initializer())
        for i in range(100):
            self.sess.run(self.step, feed_dict={{self.z: {fed}}})


model = Model(tf.Session(), True)
model.build()
model.train()
"""
RESTS = {
    "methods": ".shuffle(64).repeat().batch(8)",
    "applied": ".apply(shuffle_and_repeat(64)).apply(map_and_batch(lambda x: x, 8))",
    "batched only": ".repeat().batch(8)",
}
CHOICES = {
    "always": ("if True:", ""),
    "as asked": ("if self.custom:", "else:\n            self.x = tf.placeholder(tf.float32, [8, 4])"),
}
FED = {"noise": "np.random.uniform(-1, 1, (8, 4))", "drawn before": "self.data[i % 8 : i % 8 + 8]"}


@pytest.mark.parametrize(("rest", "choice", "fed"), [*product(RESTS, CHOICES, FED)])
def test_pipelines_beside_what_is_fed(rest: str, choice: str, fed: str) -> None:
    begins, otherwise = CHOICES[choice]
    found = outcome(PROGRAM.format(rest=RESTS[rest], choice=begins, otherwise=otherwise, fed=FED[fed]))
    (file,) = found.files.values()
    assert not found.plan.warnings and "shard(hvd.size(), hvd.rank())" in file.source
    assert "for i in range(100):" not in file.source


ONE_NAME = """\
import tensorflow.compat.v1 as tf

names = tf.train.string_input_producer(["a", "b", "c"])
_, text = tf.WholeFileReader().read(names)
x = tf.train.batch([tf.decode_raw(text, tf.float32)], batch_size=4)
shown = tf.placeholder(tf.float32, [4, 4])
rate = tf.placeholder(tf.float32)
loss = tf.reduce_mean(tf.layers.dense(x, 1))
step = tf.train.AdamOptimizer(rate).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    first = sess.run(x)
    for i in range(100):
        {before}
        sess.run(step, feed_dict=feed)
        {behind}
"""
BEHIND = {
    "none": ("feed = {rate: 0.1}", "pass"),
    "another": ("feed = {rate: 0.1}", "feed = {shown: first}\n        print(sess.run(shown, feed_dict=feed))"),
    "another under a condition": ("feed = {rate: 0.1}", "if i % 10 == 0:\n            feed = {shown: first}"),
    "another before": ("feed = {shown: first}\n        feed = {rate: 0.1}", "pass"),
}


@pytest.mark.parametrize("way", BEHIND)
def test_what_is_fed_is_what_a_variable_was_given_last(way: str) -> None:
    before, behind = BEHIND[way]
    found = outcome(ONE_NAME.replace("{before}", before).replace("{behind}", behind))
    (file,) = found.files.values()
    assert not found.plan.warnings
    assert "AdamOptimizer(rate * hvd.size())" in file.source


LOGGED = """\
import numpy as np
import tensorflow.compat.v1 as tf

NOTHING = tf.no_op()
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 1)) if len(str(x)) > 4 else NOTHING
shown = {shown} if len(str(x)) > 4 else NOTHING
step = tf.train.AdamOptimizer(0.1).minimize(loss)
writer = tf.summary.FileWriter("logs")
data = np.ones((64, 4))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(8):
        batch = data[i * 8 : i * 8 + 8]
        sess.run(step, {{x: batch}})
        if i % 4 == 0:
            text = sess.run(shown, {{x: batch}})
            writer.add_summary(text, i)
"""


@pytest.mark.parametrize("shown", ["tf.summary.scalar('loss', loss)", "tf.summary.merge_all()", "tf.summary.merge([])"])
def test_a_text_for_a_log_is_not_averaged(shown: str) -> None:
    (file,) = outcome(LOGGED.format(shown=shown)).files.values()
    assert "mean_of_ranks" not in file.source
