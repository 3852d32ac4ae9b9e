"""A session's loop that a clock, chance or a file ends is left by all ranks together: one that leaves alone blocks the others."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import glob
import os
import pickle
import random
import sys
import time
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

samples = np.ones([64, 4])
x = tf.placeholder(tf.float32, [None, 4])
cost = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train = tf.train.AdamOptimizer(0.1).minimize(cost)
begun = time.time()


def asked():
    if os.path.exists("pause"):
        with open("pause", "rb") as file:
            return pickle.load(file) == "pause"
    return False


class Clock:
    def __init__(self, limit):
        self.limit, self.begun = limit, time.time()

    def over(self):
        return time.time() - self.begun > self.limit


def small(limit):
    return limit < 3


def measure(sess):
    with open("samples") as file:
        return sess.run(cost, {{x: samples[: len(file.readlines())]}})


clock, best, worse = Clock(60), 1e9, 0
with {session} as sess:
    {initialized}
    for epoch in range(2):
        for i in range(8):
            sess.run(train, {{x: samples[i * 8 : i * 8 + 8]}})
            {test}
                {left}
"""
SESSIONS = {
    "plain": ("tf.Session()", "sess.run(tf.global_variables_initializer())"),
    "monitored": ("tf.train.MonitoredTrainingSession()", "pass"),
}
LEFT = ["break", "sys.exit(0)", "raise SystemExit", "sys.exit()"]
APART = {
    "a clock": "if time.time() - begun > 60:",
    "a clock in an object": "if clock.over():",
    "a clock in a variable": "passed = time.perf_counter() - begun\n            if passed > 60:",
    "chance": "if random.random() < 0.01:",
    "chance of NumPy": "if np.random.rand() < 0.01:",
    "a file": "if os.path.isfile('stop'):",
    "a file in a function": "if asked():",
    "a path": "if Path('stop').exists():",
    "a pattern": "if glob.glob('*.stop'):",
    "a file in a branch": "stop = False\n            if asked():\n                stop = True\n            if stop:",
    "what is typed": "if input() == 'q':",
}
ALIKE = {
    "a number": "if i > 4:",
    "a setting": "if small(epoch):",
    "a setting of the environment": "if 'SHORT' in os.environ:",
    "the data": "if len(samples) < 8:",
    "what a session computes": "now = measure(sess)\n            worse = worse + (now > best)\n            if worse > 3:",
}


def rewritten(test: str, left: str, session: str = "plain") -> str:
    made, initialized = SESSIONS[session]
    found = outcome(PROGRAM.format(session=made, initialized=initialized, test=test, left=left))
    assert not found.plan.refusals
    (file,) = found.files.values()
    return file.source


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize("test", APART)
def test_all_leave_with_the_first(test: str, session: str) -> None:
    for left in LEFT:
        text = rewritten(APART[test], left, session)
        assert "if any(parts_of_ranks(bool(" in text.partition("sess.run(train")[2], text


@pytest.mark.parametrize("test", ALIKE)
def test_what_is_the_same_for_all_is_not_asked(test: str) -> None:
    for left in LEFT:
        assert "parts_of_ranks" not in rewritten(ALIKE[test], left)


def test_a_loop_goes_on_while_all_do() -> None:
    loop = "while time.time() - begun < 60:\n        sess.run(train, {x: samples[np.random.randint(0, 64, 8)]})\n"
    program = f"{PROGRAM.partition('def asked')[0]}with tf.Session() as sess:\n    {loop}"
    (file,) = outcome(program).files.values()
    assert "while all(parts_of_ranks(bool(time.time() - begun < 60))):" in file.source
