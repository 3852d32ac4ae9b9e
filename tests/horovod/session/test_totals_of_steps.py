"""A number of steps that is divided where a loop ends is divided in all rates, means and counts that are computed by it."""

from __future__ import annotations

import re

import pytest
from horovod.tape.test_ranks import rewritten
from horovod.torch.programs import outcome

HEAD = """\
import argparse
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=1000)
parser.add_argument("--save-every", type=int, default=100)
args = parser.parse_args()
samples = np.ones([64, 4])
x = tf.placeholder(tf.float32, [None, 4])
done = tf.placeholder(tf.float32, [])
cost = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
{above}
train = tf.train.GradientDescentOptimizer({rate}).minimize(cost)
saver = tf.train.Saver()


def drawn(size):
    return samples[np.random.randint(0, 64, size)]


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    total = 0.0
    for step in range(args.steps):
        {body}
    {behind}
"""
STEP = "_, c = sess.run([train, cost], {x: drawn(8), done: step})"
WAYS = {
    "a rate by the part that is done": {"rate": "0.1 * tf.pow(1 - done / args.steps, 0.9)"},
    "a rate that is fed": {
        "body": "r = 0.1 * (1 - step / args.steps)\n        sess.run(train, {x: drawn(8), done: r})"
    },
    "a rate by a part, in front": {"above": "part = done / float(args.steps)", "rate": "0.1 * part"},
    "a decay for each step": {"above": "decay = 0.1 / args.steps", "rate": "0.1 - decay * done"},
    "a line for each step": {"body": STEP + "\n        print('step', step, 'of', args.steps, c)"},
    "a line that is formatted": {"body": STEP + "\n        print('%d/%d' % (step, args.steps))"},
    "a mean behind": {"body": STEP + "\n        total += c", "behind": "print(total / args.steps)"},
    "the last step": {"body": STEP + "\n        if step == args.steps - 1:\n            saver.save(sess, 'last')"},
    "a part of the steps": {"body": STEP + "\n        if step > args.steps * 0.5:\n            print(c)"},
}


@pytest.mark.parametrize("way", WAYS)
def test_all_that_is_computed_by_a_number_of_steps_is_divided(way: str) -> None:
    parts = {"above": "", "rate": "0.1", "body": STEP, "behind": "pass", **WAYS[way]}
    source = rewritten(HEAD.format(**parts))
    used = re.findall(r"args\.steps(?! // hvd\.size\(\))", source)
    assert not used, source


SAVES = "\n            saver.save(sess, 'kept', step)\n"
SAVED = {
    "both arms train": "if step % args.save_every == 0:\n            c, s, _ = sess.run([cost, cost, train], {x: drawn(8)})"
    + SAVES
    + "        else:\n            _, c = sess.run([train, cost], {x: drawn(8), done: step})",
    "one arm judges": STEP + "\n        if step % args.save_every == 0:" + SAVES,
}


@pytest.mark.parametrize("way", SAVED)
def test_what_trains_anyway_saves_as_often(way: str) -> None:
    source = rewritten(HEAD.format(above="", rate="0.1", body=SAVED[way], behind="pass"))
    assert re.search(r"step % \(?max\(1, args\.save_every // hvd\.size\(\)\)", source), source


def test_an_arm_that_trains_now_and_then_is_left() -> None:
    body = STEP + "\n        if step % args.save_every == 0:\n            sess.run(train, {x: drawn(8), done: step})\n"
    source = rewritten(
        HEAD.format(above="", rate="0.1", body=body + "            saver.save(sess, 'kept', step)", behind="pass")
    )
    assert "step % args.save_every == 0" in source


FED = """\
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

samples = np.ones([64, 4])
x = tf.placeholder(tf.float32, [None, 4])
at = tf.placeholder(tf.int32, [])
cost = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
rate = {rate}
train = tf.train.GradientDescentOptimizer(rate).minimize(cost)
n = 0
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(9):
        for i in range(0, 64, 8):
            sess.run(train, {{x: samples[i : i + 8], at: {fed}}})
            n += 1
"""
RATES = {
    "tf.train.exponential_decay(0.1, at, 100, 0.96)": r"at, 100 // hvd\.size\(\), 0\.96",
    "tf.train.polynomial_decay(0.1, at, decay_steps=100)": r"decay_steps=100 // hvd\.size\(\)",
    "tf.train.piecewise_constant(at, [10, 20], [0.1, 0.01, 0.001])": r"\[step // hvd\.size\(\) for step in \[10, 20\]\]",
}


@pytest.mark.parametrize("rate", RATES)
def test_a_schedule_is_as_long_as_what_is_fed_to_it(rate: str) -> None:
    assert re.search(RATES[rate], rewritten(FED.format(rate=rate, fed="n")))
    assert not re.search(r"100 // hvd|step // hvd", rewritten(FED.format(rate=rate, fed="epoch")))


LIMITED = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
done = tf.train.get_or_create_global_step()
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.layers.dense(x, 1)), global_step=done)
samples, most = np.ones([64, 4]), 100
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    {loops}
"""
TAKEN = "session.run([done, train], {x: samples[i * 8 : i * 8 + 8]})"
LIMITS = {
    "within an epoch": f"for epoch in range(3):\n        for i in range(8):\n            step, _ = {TAKEN}\n"
    "            if step > most:\n                break",
    "within an endless one": f"while True:\n        for i in range(8):\n            step, _ = {TAKEN}\n"
    "            if step >= most:\n                break\n        if step >= most:\n            break",
    "behind an epoch": f"for epoch in range(3):\n        for i in range(8):\n            step, _ = {TAKEN}\n"
    "        if step > most:\n            break",
}


@pytest.mark.parametrize("loops", LIMITS)
def test_a_limit_of_the_steps_that_the_graph_counts_is_divided_in_any_loop(loops: str) -> None:
    (file,) = outcome(LIMITED.format(loops=LIMITS[loops])).files.values()
    made_smaller = "most = 100 // hvd.size()" in file.source or "np.ones([64, 4]), 100 // hvd.size()" in file.source
    compared = file.source.count("most // hvd.size():")
    assert made_smaller or compared == LIMITS[loops].count("most:")
