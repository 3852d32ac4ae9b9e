"""Where all ranks wait for what rank 0 has written: once, where a function is called that reads it, however often that is."""

from __future__ import annotations

import pytest
from horovod.tape.test_ranks import rewritten

PROGRAM = """\
import sys
import pandas as pd
import numpy as np
import tensorflow as tf


def run(name):
    \"\"\"Trains a model.\"\"\"
    known = pd.read_csv("results.csv")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    model.compile("adam", "mse")
    told = model.fit(np.ones((64, 4)), np.ones((64, 1)))
    pd.concat([known, pd.DataFrame(told.history)]).to_csv("results.csv")


{calls}
"""
CALLS = {
    "again and again": "run('a')\nrun('b')\nrun('c')",
    "with something between": "run('a')\nprint('next')\nrun('b')\nrun('c')",
    "in a function": "def main():\n    run('a')\n    run('b')\n    run('c')\n\n\nmain()",
    "under the guard": "def main():\n    run('a')\n    run('b')\n    run('c')\n\n\nif __name__ == '__main__':\n    main()",
}
WAIT = 'hvd.allreduce(0, name="written")'


@pytest.mark.parametrize("calls", CALLS)
def test_the_function_waits(calls: str) -> None:
    found = rewritten(PROGRAM.format(calls=CALLS[calls]))
    assert f'    """Trains a model."""\n    {WAIT}\n' in found
    assert found.count(WAIT) == 1


def test_one_call_is_waited_for_in_front_of_it() -> None:
    found = rewritten(PROGRAM.format(calls="run('a')\nknown = pd.read_csv('results.csv')"))
    assert f"{WAIT}\nknown = pd.read_csv" in found


def test_a_function_that_may_be_called_by_some_ranks_does_not_wait() -> None:
    """A rank that waits there alone would wait forever."""
    tried = "try:\n    told = open('c').read()\n    run('c')\nexcept ValueError:\n    pass"
    found = rewritten(PROGRAM.format(calls=f"run('a')\nrun('b')\n{tried}"))
    assert f'"""Trains a model."""\n    {WAIT}' not in found
    assert f"{WAIT}\nrun('b')" in found
