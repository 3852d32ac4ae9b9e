"""A loop that begins where a checkpoint says: that counts steps of all ranks, and the loop ends where theirs end.

What the same number of steps is told as, or divides and multiplies beside such a count, is of all ranks too.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf

samples = np.ones([64, 4])


class Trainer:
    def __init__(self, session):
        self.session = session
        self.in_epoch = len(samples) // 8
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.done = tf.train.get_or_create_global_step()
        cost = tf.reduce_mean(tf.layers.dense(self.x, 1))
        self.step = tf.train.AdamOptimizer(0.1).minimize(cost, global_step=self.done)

    def load(self):
        kept = tf.train.get_checkpoint_state("kept")
        if kept:
            return int(kept.model_checkpoint_path.split("-")[-1])
        return 0

    def latest(self):
        return int(tf.train.latest_checkpoint("kept").rpartition("-")[2])

    def train(self):
        self.session.run(tf.global_variables_initializer())
        {begin}
        for i in range(first, {stop}):
            self.session.run(self.step, {{self.x: samples[{at}]}})
            print("step", i, "of", {total})


with tf.Session() as session:
    Trainer(session).train()
"""
SIZE = "hvd.size()"
IN_EPOCH = f"(self.in_epoch // {SIZE})"
BEGINS = {
    "what a name says": ("first = self.load()", "first = self.load()"),
    "the newest": ("first = self.latest()", "first = self.latest()"),
    "a variable of the graph": ("first = self.session.run(self.done)", "first = self.session.run(self.done)"),
    "in its epoch": (
        "done = self.load(); epoch = int(done / self.in_epoch); first = done - epoch * self.in_epoch",
        f"epoch = int(done / {IN_EPOCH}); first = done - epoch * {IN_EPOCH}",
    ),
    "in its epoch, or at the first": (
        "done = self.load(); first = done - int(done / self.in_epoch) * self.in_epoch if done else 0",
        f"first = done - int(done / {IN_EPOCH}) * {IN_EPOCH} if done else 0",
    ),
    "the rest of its epoch": (
        "done = self.load(); epoch = done // self.in_epoch; first = done % self.in_epoch",
        f"epoch = done // {IN_EPOCH}; first = done % {IN_EPOCH}",
    ),
    "both at once": (
        "epoch, first = divmod(self.latest(), self.in_epoch)",
        f"epoch, first = divmod(self.latest(), self.in_epoch // {SIZE})",
    ),
    "the rest of what an attribute counts": (
        "self.counter = self.load(); first = self.counter % self.in_epoch",
        f"first = self.counter % {IN_EPOCH}",
    ),
}
AT = {
    "a part": "i * 8 : (i + 1) * 8",
    "drawn": "np.random.randint(0, 64, 8)",
}


def rewritten(begin: str, at: str, stop: str = "self.in_epoch", total: str = "self.in_epoch") -> str:
    (file,) = outcome(PROGRAM.format(begin=begin, at=at, stop=stop, total=total)).files.values()
    return file.source


@pytest.mark.parametrize("at", AT)
@pytest.mark.parametrize("begin", BEGINS)
def test_it_ends_where_all_ranks_end(begin: str, at: str) -> None:
    before, after = BEGINS[begin]
    text = rewritten(before, AT[at])
    assert f"for i in range(first, self.in_epoch // {SIZE}):" in text and after in text
    assert f'"of", self.in_epoch // {SIZE})' in text
    assert ("own_i = i * hvd.size() + hvd.rank()" in text) is (at == "a part")


@pytest.mark.parametrize("done", ["self.load()", "self.latest()", "self.session.run(self.done)"])
@pytest.mark.parametrize("at", AT)
def test_one_that_begins_within_an_epoch_knows_how_long_that_is(at: str, done: str) -> None:
    """The number of steps is divided where it is computed, and the loop begins at the rank's rest of it."""
    begin = f"done = {done}; steps = len(samples) // 8; epoch = done // steps"
    program = PROGRAM.replace("range(first, {stop})", "range(done % steps, {stop})")
    (file,) = outcome(program.format(begin=begin, at=AT[at], stop="steps", total="steps")).files.values()
    assert f"steps = (len(samples) // 8) // {SIZE}; epoch = done // steps\n" in file.source
    assert "for i in range(done % steps, steps):" in file.source and '"of", steps)' in file.source
    assert ("own_i = i * hvd.size() + hvd.rank()" in file.source) is (at == "a part")


def test_one_that_begins_elsewhere_takes_its_share_from_there() -> None:
    text = rewritten("first = 2", AT["a part"])
    assert f"range(first, first + (self.in_epoch - first) // {SIZE})" in text
    assert "own_i = first + (i - first) * hvd.size() + hvd.rank()" in text


STEPS = {
    "self.in_epoch": f"self.in_epoch // {SIZE}",
    "self.in_epoch if epochs else 8": f"(self.in_epoch if epochs else 8) // {SIZE}",
}


@pytest.mark.parametrize("steps", STEPS)
def test_a_number_that_is_made_whole_is_divided_where_it_is_computed(steps: str) -> None:
    begin = f"epochs = 3; first = self.load(); steps = {steps}"
    text = rewritten(begin, AT["a part"], stop="int(steps)", total="steps")
    assert f"steps = {STEPS[steps]}\n" in text
    assert "range(first, int(steps)):" in text and '"of", steps)' in text
