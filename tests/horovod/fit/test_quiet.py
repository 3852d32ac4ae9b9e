"""The progress bars of Keras are drawn by rank 0, whatever method draws them; what draws none is left as it is."""

from __future__ import annotations

import pytest
from horovod.torch.programs import rewritten

PROGRAM = """\
import numpy as np
from tensorflow import keras

x, y = np.ones((64, 4)), np.ones((64, 1))
shown = 2
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
found = model.{call}
"""
CALLS = {
    "evaluate(x, y)": "evaluate(x, y, verbose=1 if hvd.rank() == 0 else 0)",
    "evaluate(x, y, verbose=2)": "evaluate(x, y, verbose=2 if hvd.rank() == 0 else 0)",
    "evaluate(x, y, 8, 1)": "evaluate(x, y, 8, 1 if hvd.rank() == 0 else 0)",
    "predict(x)": "predict(x, verbose=1 if hvd.rank() == 0 else 0)",
    "predict(x, verbose=shown)": "predict(x, verbose=shown if hvd.rank() == 0 else 0)",
    "predict(x, verbose=0)": "predict(x, verbose=0)",
    "evaluate_generator(iter([]), 3)": "evaluate_generator(iter([]), 3)",
    "evaluate_generator(iter([]), 3, verbose=1)": "evaluate_generator(iter([]), 3, verbose=1 if hvd.rank() == 0 else 0)",
    "predict_generator(iter([]), steps=3)": "predict_generator(iter([]), steps=3)",
    "predict_generator(iter([]), 3, verbose=1)": "predict_generator(iter([]), 3, verbose=1 if hvd.rank() == 0 else 0)",
    "predict_generator(iter([]), 3, None, 10, 1, False, 1)": (
        "predict_generator(iter([]), 3, None, 10, 1, False, 1 if hvd.rank() == 0 else 0)"
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_rank_0_draws_them(call: str) -> None:
    assert f"found = model.{CALLS[call]}\n" in rewritten(PROGRAM.replace("{call}", call))
