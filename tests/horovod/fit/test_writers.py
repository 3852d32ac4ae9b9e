"""A callback of the program that is one of the library's that write files writes them on rank 0."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
from tensorflow import keras


class Own(keras.callbacks.{base}):
    def on_batch_end(self, batch, logs=None):
        self.seen = {kept}


class Further(Own):
    pass


x, y = np.ones((64, 4)), np.ones((64, 1))
model = keras.Sequential([keras.layers.Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")
held = {kind}({given})
model.fit(x, y, callbacks=[held])
{read}
"""
GIVEN = {"TensorBoard": "'logs'", "CSVLogger": "'log.csv'", "ModelCheckpoint": "'net.h5'", "RemoteMonitor": ""}


@pytest.mark.parametrize("kind", ["Own", "Further"])
@pytest.mark.parametrize("base", GIVEN)
def test_it_runs_on_rank_zero(base: str, kind: str) -> None:
    text = PROGRAM.format(base=base, kind=kind, given=GIVEN[base], kept="batch", read="")
    (file,) = outcome(text).files.values()
    assert f"held = {kind}({GIVEN[base]}) if hvd.rank() == 0 else keras.callbacks.Callback()" in file.source


@pytest.mark.parametrize("base", ["Callback", "EarlyStopping", "History"])
def test_others_run_everywhere(base: str) -> None:
    (file,) = outcome(PROGRAM.format(base=base, kind="Own", given="", kept="batch", read="")).files.values()
    assert "held = Own()\n" in file.source


def test_one_that_is_read_runs_everywhere() -> None:
    text = PROGRAM.format(base="CSVLogger", kind="Own", given="'log.csv'", kept="batch", read="print(held.seen)")
    (file,) = outcome(text).files.values()
    assert "held = Own('log.csv')\n" in file.source


DRIVEN = """\
import numpy as np
from tensorflow import keras

x, y = np.ones((64, 4)), np.ones((64, 1))
model = keras.Sequential([keras.layers.Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")


class Run:
    def __init__(self):
        self.held = {made}
        self.held.set_model(model)

    def train(self):
        for i in range(8):
            loss = model.train_on_batch(x[i * 8 : i * 8 + 8], y[i * 8 : i * 8 + 8])
            self.held.{event}(i, {{"loss": loss}})


Run().train()
"""
EVENTS = ["on_epoch_end", "on_batch_end", "on_train_batch_end"]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("base", ["TensorBoard", "CSVLogger"])
def test_one_that_the_program_calls_itself_runs_on_rank_zero(base: str, event: str) -> None:
    made = f"keras.callbacks.{base}({GIVEN[base]})"
    found = outcome(DRIVEN.format(made=made, event=event))
    (file,) = found.files.values()
    assert f"self.held = {made} if hvd.rank() == 0 else keras.callbacks.Callback()" in file.source
    assert [each.code for each in found.plan.warnings] == ["HVD313"]


def test_one_that_decides_is_called_by_all() -> None:
    (file,) = outcome(DRIVEN.format(made="keras.callbacks.EarlyStopping()", event="on_epoch_end")).files.values()
    assert "self.held = keras.callbacks.EarlyStopping()\n" in file.source
