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


OLDER = """\
import numpy as np
import keras
import tensorflow as tf

x, y = np.ones((64, 4)), np.ones((64, 1))
model = keras.models.Sequential([keras.layers.Dense(1)])
model.compile("sgd", lambda a, b: tf.to_float(a - b) ** 2)
model.fit(x, y, callbacks=[keras.callbacks.ModelCheckpoint("net.h5")])
found = model.{call}
"""
IN_OLDER = {
    **{call: told for call, told in CALLS.items() if call != "predict(x)"},
    "predict(x)": "predict(x)",
    "predict(x, 8)": "predict(x, 8)",
    "predict(x, 8, 1)": "predict(x, 8, 1 if hvd.rank() == 0 else 0)",
}


@pytest.mark.parametrize("call", IN_OLDER)
def test_what_drew_none_in_its_version_draws_none(call: str) -> None:
    shown = "verbose=shown" in call
    found = rewritten(OLDER.replace("{call}", call).replace("found =", "shown = 2\nfound =" if shown else "found ="))
    assert f"found = model.{IN_OLDER[call]}\n" in found


def test_keras_is_imported_once() -> None:
    found = rewritten(
        OLDER.replace("import keras\n", "import keras.models\nfrom keras import layers\n").replace(
            "{call}", "predict(x)"
        )
    )
    assert "keras.callbacks.Callback()" in found
    assert found.splitlines().count("import keras") <= 1
    found = rewritten(
        OLDER.replace("import keras\n", "from keras import callbacks, layers, models\n")
        .replace("keras.", "")
        .replace("{call}", "predict(x)")
    )
    assert found.splitlines().count("import keras") == 1
