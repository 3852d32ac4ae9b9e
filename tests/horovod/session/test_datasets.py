"""Data sets in a graph whose number of elements nobody knows: each rank takes its part of them, and all take equally many.

A data set of TensorFlow 1 has no `cardinality`, and one that a generator gives knows none.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import tensorflow as tf


def samples():
    for i in range(50):
        yield [1.0] * (i % 5 + 1), i


def batches(size):
    data = {made}
    data = data{behind}
    return data.padded_batch(size, ([None], ()), (0.0, 0)).prefetch(1)


iterator = tf.data.Iterator.from_structure((tf.float32, tf.int32), ([None, None], [None]))
x, y = iterator.get_next()
begin = iterator.make_initializer(batches(4))
loss = tf.reduce_mean(tf.reduce_sum(x, 1) * tf.get_variable("w", []))
step = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(begin)
    for i in range(12):
        session.run(step)
"""
GENERATED = "tf.data.Dataset.from_generator(samples, (tf.float32, tf.int32), ([None], ()))"
MADE = {
    "generated": GENERATED,
    "filtered": f"{GENERATED}.filter(lambda a, i: i > 3)",
    "of records": "tf.data.TFRecordDataset('a').map(parsed)",
    "of several": f"tf.data.Dataset.range(4).flat_map(lambda i: {GENERATED})",
}
SHARED = "shard(hvd.size(), hvd.rank())"
EVEN = ".zip(tuple("


@pytest.mark.parametrize("order", ["", ".shuffle(100)"])
@pytest.mark.parametrize("made", MADE)
def test_parts_of_what_never_ends_need_not_be_equal(made: str, order: str) -> None:
    found = outcome(PROGRAM.format(made=MADE[made], behind=f"{order}.repeat()"))
    (file,) = found.files.values()
    assert SHARED in file.source and "cardinality" not in file.source and EVEN not in file.source
    assert not {"HVD302", "HVD303"} & {each.code for each in found.plan.warnings}


@pytest.mark.parametrize("behind", [".shuffle(100)", ".repeat(2)", ".shuffle(100).repeat(3)", ".map(changed)"])
@pytest.mark.parametrize("made", MADE)
def test_parts_of_what_ends_are(made: str, behind: str) -> None:
    found = outcome(PROGRAM.format(made=MADE[made], behind=behind))
    (file,) = found.files.values()
    assert "cardinality" not in file.source
    assert EVEN in file.source or "drop_remainder=True).unbatch()" in file.source
    assert not {"HVD302", "HVD303"} & {each.code for each in found.plan.warnings}
