"""Whether a session takes a step is decided by all ranks alike: one that skips it leaves the others waiting."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

samples = np.random.randn(64, 4)
x = tf.placeholder(tf.float32, [None, 4])
cost = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train = tf.train.AdamOptimizer(0.1).minimize(cost)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for {loop}:
        {batch}
        {body}
"""
LOOPS = {
    "slices": ("i in range(0, 64, 8)", "a = samples[i : i + 8]"),
    "pairs": ("i, j in zip(range(0, 64, 8), range(8, 65, 8))", "a = samples[i:j]"),
    "drawn": ("i in range(100)", "a = samples[np.random.randint(0, 64, 8)]"),
    "batches": ("a in np.split(samples, 8)", "pass"),
}
STEP = "sess.run(train, {x: a})"
DECIDED = {
    "a batch that is skipped": f"if a.max() > 3:\n            continue\n        {STEP}",
    "a number of a batch": f"bad = np.sum(np.isnan(a))\n        if bad > 0:\n            continue\n        {STEP}",
    "a batch that is taken": f"if a.max() < 3:\n            {STEP}",
    "a batch that is taken or not": f"if a.max() < 3:\n            {STEP}\n        else:\n            print(i)",
}
SHORT = f"if len(a) < 8:\n            continue\n        {STEP}"
ALIKE = {
    "nothing": STEP,
    "both train": f"if a.max() < 3:\n            {STEP}\n        else:\n            {STEP}",
    "what takes none": f"{STEP}\n        if a.max() > 3:\n            continue\n        print('small')",
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("way", DECIDED)
def test_ranks_skip_together(way: str, loop: str) -> None:
    over, batch = LOOPS[loop]
    found = outcome(PROGRAM.format(loop=over, batch=batch, body=DECIDED[way]))
    if not found.plan.refusals:
        (file,) = found.files.values()
        assert f"if {'all' if 'taken' in way else 'any'}(parts_of_ranks(bool(" in file.source, file.source


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("way", ALIKE)
def test_nothing_is_asked_that_is_alike(way: str, loop: str) -> None:
    over, batch = LOOPS[loop]
    found = outcome(PROGRAM.format(loop=over, batch=batch, body=ALIKE[way]))
    (file,) = found.files.values()
    assert "(parts_of_ranks(bool(" not in file.source, file.source


@pytest.mark.parametrize(("loop", "asked"), [("slices", True), ("pairs", True), ("batches", True), ("drawn", False)])
def test_the_short_batch_is_that_of_one_rank(loop: str, asked: bool) -> None:
    """Where batches are dealt out, what the size of one decides differs between the ranks; what a rank draws is of one size."""
    over, batch = LOOPS[loop]
    (file,) = outcome(PROGRAM.format(loop=over, batch=batch, body=SHORT)).files.values()
    assert ("if any(parts_of_ranks(bool(len(a) < 8))):" in file.source) is asked, file.source
