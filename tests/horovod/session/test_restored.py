"""The weights of rank 0 reach all ranks, however the function that restores them leaves."""

from __future__ import annotations

import ast

import pytest
from horovod.tape.test_ranks import rewritten

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Net:
    def __init__(self, sess):
        self.sess = sess
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.layers.dense(self.x, 1)))
        self.saver = tf.train.Saver()
        self.sess.run(tf.global_variables_initializer())
        print(self.restored())

    def restored(self):
{restored}
    def train(self, data):
        for epoch in range(3):
            for i in range(8):
                self.sess.run(self.step, {{self.x: data[i * 4 : i * 4 + 4]}})


def main():
    with tf.Session() as sess:
        Net(sess).train(np.ones((64, 4)))


main()
"""
RESTORED = {
    "in both arms": """
        found = tf.train.latest_checkpoint("run")
        if found:
            self.saver.restore(self.sess, found)
            return True
        else:
            return False
""",
    "in what is tried": """
        try:
            self.saver.restore(self.sess, tf.train.latest_checkpoint("run"))
            return True
        except ValueError:
            return False
""",
    "in all arms of several": """
        found = tf.train.latest_checkpoint("run")
        if found and "best" in found:
            self.saver.restore(self.sess, found)
            return "best"
        elif found:
            self.saver.restore(self.sess, found)
            return "last"
        else:
            raise ValueError("none")
""",
    "in a block": """
        if tf.train.latest_checkpoint("run"):
            with tf.device("/cpu:0"):
                self.saver.restore(self.sess, "run")
                return True
        else:
            return False
""",
}
GOING_ON = {
    "in one arm": """
        found = tf.train.latest_checkpoint("run")
        if found:
            self.saver.restore(self.sess, found)
            print("restored")
        return found
""",
    "at the end": """
        self.saver.restore(self.sess, "run")
        return True
""",
}
LOOP = "self.sess.run(hvd.broadcast_global_variables(0))\n        for epoch in range(3):"


def unreachable(text: str) -> list[ast.stmt]:
    """The statements of a program behind one that leaves."""
    blocks = [
        block
        for node in ast.walk(ast.parse(text))
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, name, None), list)
    ]
    return [each for block in blocks for i, each in enumerate(block[1:]) if _leaves(block[i])]


def _leaves(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return bool(node.orelse) and _leaves(node.body[-1]) and _leaves(node.orelse[-1])
    if isinstance(node, ast.Try):
        return _leaves(node.body[-1]) and all(_leaves(each.body[-1]) for each in node.handlers)
    return _leaves(node.body[-1]) if isinstance(node, ast.With) else isinstance(node, ast.Return | ast.Raise)


@pytest.mark.parametrize("way", [*RESTORED, *GOING_ON])
def test_weights_are_sent_where_a_rank_comes_by(way: str) -> None:
    found = rewritten(PROGRAM.format(restored={**RESTORED, **GOING_ON}[way]))
    assert "broadcast_global_variables(0)" in found
    assert not unreachable(found)


@pytest.mark.parametrize("way", RESTORED)
def test_weights_are_sent_once_in_front_of_the_loop(way: str) -> None:
    found = rewritten(PROGRAM.format(restored=RESTORED[way]))
    assert LOOP in found
    assert found.count("broadcast_global_variables") == 1
