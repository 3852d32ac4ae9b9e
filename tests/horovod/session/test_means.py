"""What a program of TensorFlow 1 prints of its losses and counts is of all the data: on two ranks as in one process.

Rates are so small that weights stay what they were, and they begin alike everywhere. Real processes of Horovod run all programs.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from horovod.printed import Printed, printed_by
from horovod.tape.test_ranks import rewritten

HEAD = """\
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.reset_default_graph()
samples = np.random.RandomState(0).randn(64, 4).astype("float32")
marks = np.arange(64, dtype="float32").reshape(64, 1) / 16 - 2
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer())
cost = tf.reduce_mean(tf.square(out - y))
hits = tf.reduce_mean(tf.cast(tf.equal(out > 0, y > 0), tf.float32))
count = tf.reduce_sum(tf.cast(out > 0, tf.int32))
train = tf.train.GradientDescentOptimizer(1e-12).minimize(cost)


class Reader:
    def __init__(self):
        self.at = 0

    def next_batch(self, size):
        begin = self.at % 64
        self.at += size
        return samples[begin : begin + size], marks[begin : begin + size]


reader = Reader()
"""
BODY = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(2):
        {begin}
        for i in {turns}:
            {batch}
            {step}
            {turn}
        {end}
"""
SLICES = ("range(64 // 8)", "a, b = samples[i * 8 : i * 8 + 8], marks[i * 8 : i * 8 + 8]")
PAIRS = ("zip(range(0, 64, 8), range(8, 65, 8))", "a, b = samples[i[0] : i[1]], marks[i[0] : i[1]]")
DRAWN = ("range(len(samples) // 4)", "a, b = reader.next_batch(4)")
STEP = "_, value = sess.run([train, cost], feed_dict={x: a, y: b})"
FED = "fed = {x: a, y: b}; value, _ = sess.run([cost, train], fed)"
BOTH = "_, value, right = sess.run([train, cost, hits], {x: a, y: b})"
ALONE = "sess.run(train, {x: a, y: b})"
WAYS = {
    "a sum and a count": (SLICES, STEP, "total, n = 0.0, 0", "total += value; n += 1", "print(total / n)"),
    "a sum over the turns": (PAIRS, FED, "total = 0", "total += value", "print(total / 8)"),
    "both in one line": (PAIRS, STEP, "total, n = 0.0, 0", "total, n = total + value, n + 1", "print(total / n)"),
    "a list": (DRAWN, FED, "kept = []", "kept.append(value)", "print(np.mean(kept))"),
    "two lists": (
        SLICES,
        BOTH,
        "kept, got = [], []",
        "kept.append(value); got.append(right)",
        "print(np.mean(kept) + np.mean(got))",
    ),
    "a sum of samples": (
        DRAWN,
        STEP,
        "total = 0.0",
        "total += value * len(a)",
        "print(total / 64)",
    ),
    "a sum that is told": (SLICES, STEP, "total = 0.0", "total += value", "print(total)"),
    "counts of guesses": (
        SLICES,
        "_, got = sess.run([train, out], {x: a, y: b})",
        "right, seen = 0, 0",
        "right += np.sum((got > 0) == (b > 0)); seen += 8",
        "print(right / float(seen))",
    ),
    "guesses of samples": (
        PAIRS,
        "_, got = sess.run([train, out], {x: a, y: b})",
        "kept = []",
        "kept.extend(got[:, 0].tolist())",
        "print(np.mean(kept) + len(kept) + max(kept))",
    ),
    "another look": (
        DRAWN,
        ALONE,
        "total = 0.0",
        "total += sess.run(hits, {x: a, y: b})",
        "print(total / 16)",
    ),
    "an item of the results": (
        DRAWN,
        "both = sess.run([train, cost], {x: a, y: b}); value = both[1]",
        "total = 0.0",
        "total += value",
        "print(total / 16)",
    ),
    "sums in a dict": (SLICES, BOTH, "kept = {'a': 0.0}", "kept['a'] += value + right", "print(kept['a'] / 8)"),
}


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    for name, ((turns, batch), step, begin, turn, end) in WAYS.items():
        yield name, HEAD + BODY.format(turns=turns, batch=batch, step=step, begin=begin, turn=turn, end=end)


TOLD = {
    "an item of the results": ("both = sess.run([train, cost], {x: a, y: b}); value = both[1]", "value"),
    "the step's own loss": (STEP, "value"),
    "with its sign turned": ("_, value = sess.run([train, -hits], {x: a, y: b})", "value"),
    "another look": (f"{ALONE}; value = sess.run(cost, {{x: a, y: b}})", "value"),
}


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("when", ["i % 5 == 0", "(i + 1) % 5 == 0"])
def test_what_one_batch_gives_is_told_of_all_ranks(name: str, when: str) -> None:
    step, value = TOLD[name]
    turn = f"if {when}:\n                print({value})"
    text = rewritten(HEAD + BODY.format(turns=DRAWN[0], batch=DRAWN[1], step=step, begin="pass", turn=turn, end="pass"))
    assert f"{value} = mean_of_ranks({value})\n" in text


def test_what_another_batch_gives_is_the_same_on_every_rank() -> None:
    step = f"{ALONE}; value = sess.run(cost, {{x: samples, y: marks}})"
    turn = "if i % 5 == 0:\n                print(value)"
    body = BODY.format(turns=DRAWN[0], batch=DRAWN[1], step=step, begin="pass", turn=turn, end="pass")
    assert "mean_of_ranks" not in rewritten(HEAD + body)


def test_a_reader_of_other_data_goes_on_where_it_is() -> None:
    turn = "if i % 5 == 0:\n                c, d = other.next_batch(4); print(sess.run(cost, {x: c, y: d}))"
    body = BODY.format(
        turns=DRAWN[0], batch=DRAWN[1], step=ALONE, begin="other = Reader()", turn=turn, end="print(other.at)"
    )
    assert "other.at = " not in rewritten(HEAD + body)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """The numbers that rank 0 of two prints in each program, and those of one process."""
    return printed_by(dict(programs()), tmp_path_factory.mktemp("means"))


@pytest.mark.parametrize("name", WAYS)
def test_what_is_printed_is_of_all_the_data(name: str, printed: Printed) -> None:
    alone, ranks = printed["alone"][name], printed["ranks"][name]
    assert len(alone) == 2
    assert ranks == pytest.approx(alone, rel=1e-4)
