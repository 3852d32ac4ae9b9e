"""A session's loop that is left after so many steps without a better score is left after as much data as before."""

from __future__ import annotations

from itertools import product

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow.compat.v1 as tf

data = np.ones((640, 4))
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
update = tf.train.AdamOptimizer(0.1).minimize(loss)


def batches(rows):
    for i in range(0, len(rows), 8):
        yield rows[i : i + 8]


patience = 1000
best, last, seen = 1e9, 0, 0
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    over = False
    for epoch in range(9):
        for batch in batches(data):
            if seen % 100 == 0:
                score = sess.run(loss, {{x: data}})
                if score < best:
                    best, last = score, seen
            sess.run(update, {{x: batch}})
            seen += 1
            {left}
        if over:
            break
"""
ASKED = {
    "seen - last > {0}": "seen - last > {0} // hvd.size()",
    "seen > last + {0}": "seen > last + {0} // hvd.size()",
    "seen >= {0}": "seen >= {0} // hvd.size()",
    "{0} < seen - last": "{0} // hvd.size() < seen - last",
}
LEFT = (
    "if {0}:\n                break",
    "if {0}:\n                print('over')\n                over = True\n                break",
)


@pytest.mark.parametrize(("asked", "left", "number"), [*product(ASKED, LEFT, ("patience", "500"))])
def test_patience_is_counted_in_the_steps_of_a_rank(asked: str, left: str, number: str) -> None:
    (file,) = outcome(PROGRAM.format(left=left.format(asked.format(number)))).files.values()
    assert f"if {ASKED[asked].format(number)}:" in file.source
