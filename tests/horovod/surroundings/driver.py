"""Runs a program in one process of those that are compared, and keeps the weights that it ends with.

`python driver.py SCRIPT ARGUMENTS`: the process draws by its rank's number, so what nobody seeds differs between ranks. The
weights of all models that are left, and of sessions that end, and a list of what is written go to the folder NOTES.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import runpy
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

kept: list[Any] = []
"""Arrays of sessions that were closed."""


def main() -> None:
    rank = int(os.environ.get("RANK", "0"))
    script, sys.argv, notes = sys.argv[1], sys.argv[1:], Path(os.environ["NOTES"])
    sys.path[:1] = [str(Path(script).absolute().parent), str(Path(__file__).with_name("stand_ins"))]
    import tensorflow as tf

    for seed in (random.seed, np.random.seed, tf.random.set_seed):
        seed(7 + rank)
    closing(tf)
    if rank and "LAG" in os.environ:
        time.sleep(float(os.environ["LAG"]))
    if not rank and "RANK" in os.environ:
        os.environ["WRITES_SLOWLY"] = "1"
    os.environ.update(WRITES_BELOW=os.getcwd(), WRITES_LOG=str(notes / f"writes.{rank}"))
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        sys.stdout.flush()
        del os.environ["WRITES_LOG"]
        np.savez(notes / f"weights.{rank}", *weights())


def closing(tf: Any) -> None:
    """Have sessions keep their variables as they end."""
    session = tf.compat.v1.Session
    original = session.close

    def close(self: Any) -> None:
        with self.graph.as_default():
            variables = sorted(tf.compat.v1.trainable_variables(), key=lambda each: each.name)
            with contextlib.suppress(RuntimeError, tf.errors.OpError):  # closed twice, or never initialized
                kept.extend(self.run(variables) if variables else [])
        original(self)

    session.close = close


def weights() -> list[Any]:
    """The trainable weights of all models that are left, in the order of their names and sizes."""
    from tensorflow import keras

    models = [each for each in gc.get_objects() if isinstance(each, keras.Model) and each.built]
    found = {id(each): each for model in models for each in model.weights}
    try:
        arrays = [np.asarray(keras.backend.get_value(each)) for each in found.values()]
    except Exception:
        arrays = []  # of a graph whose session has ended
    return kept + sorted(arrays, key=lambda each: (each.shape, float(np.sum(each))))


if __name__ == "__main__":
    main()
