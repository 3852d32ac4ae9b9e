"""Callbacks that end training for what one rank alone sees, its data or its clock: two processes end in the same batch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite_text

from smoke.environments import horovod_python
from spmd.running import together

HEAD = """\
import os
import time
import numpy as np
from tensorflow import keras

x = np.ones((160, 6), "float32")
y = np.ones(160, "float32")
y[40] = np.nan  # the second batch of one rank, of none of the other

"""
STOP = """
class Stop(keras.callbacks.Callback):
    def {name}(self, batch, logs=None):
        {test}
            self.model.stop_training = True


model = keras.Sequential([keras.layers.Dense(1, input_shape=(6,))])
model.compile("sgd", "mse")
{callbacks}
model.fit(x, y, batch_size=16, epochs=3, shuffle=False, {given}verbose=0)
print(int(model.optimizer.iterations.numpy()))
"""
BAD = "if not np.isfinite(logs['loss']):"
SEEN = "self.seen = getattr(self, 'seen', False) or not np.isfinite((logs or {}).get('loss', 0))\n        if self.seen:"
LATE = "if time.time() > float('inf' if os.environ.get('HOROVOD_RANK', '1') == '0' else 0):"
KEPT = "self.since = getattr(self, 'since', time.time() - int(os.environ.get('HOROVOD_RANK', '1')))\n"
KEPT += "        if time.time() > self.since + 1:"
BATCHES = {"by the clock": "5", "by the clock, of the same": "6", "by a time that is kept": "5"}
FORMS = {
    "of the library": ("on_epoch_end", BAD, "", "callbacks=[keras.callbacks.TerminateOnNaN()], "),
    "in a list": ("on_epoch_end", BAD, "kept = [keras.callbacks.TerminateOnNaN(), Stop()]", "callbacks=kept, "),
    "alone": ("on_epoch_end", BAD, "kept = keras.callbacks.TerminateOnNaN()", "callbacks=kept, "),
    "added": ("on_epoch_end", BAD, "kept = []\nkept.append(keras.callbacks.TerminateOnNaN())", "callbacks=kept, "),
    "of the program": ("on_train_batch_end", BAD, "", "callbacks=[Stop()], "),
    "by its old name": ("on_batch_end", BAD, "", "callbacks=[Stop()], "),
    "under conditions": ("on_batch_end", "if batch >= 0 and logs:\n          " + BAD, "", "callbacks=[Stop()], "),
    "by the clock": ("on_epoch_end", LATE, "", "callbacks=[Stop()], "),
    "by the clock, of the same": ("on_epoch_begin", f"if batch:\n          {LATE}", "", "callbacks=[Stop()], "),
    "by a time that is kept": ("on_epoch_end", KEPT, "", "callbacks=[Stop()], "),
    "remembered": ("on_train_batch_end", SEEN, "", "callbacks=[Stop()], "),
}
DRIVER = """
import contextlib, io, json, sys
import horovod.tensorflow.keras as hvd
hvd.init()
found = {}
for name, text in json.load(open("texts.json")).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, name, "exec"), {"__name__": "__main__"})
    found[name] = out.getvalue().split()[-1:]
if hvd.rank() == 0:
    json.dump(found, open("found.json", "w"))
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """After how many batches rank 0 of two ends, in each program."""
    folder, python, texts = tmp_path_factory.mktemp("stopping"), horovod_python("tensorflow"), {}
    for name, (method, test, callbacks, given) in FORMS.items():
        script: Path = folder / "script.py"
        script.write_text(HEAD + STOP.format(name=method, test=test, callbacks=callbacks, given=given))
        outcome = rewrite_text(str(script), Options())
        assert not (outcome.plan.refusals or outcome.plan.warnings), name
        (file,) = outcome.files.values()
        texts[name] = file.source
    (folder / "texts.json").write_text(json.dumps(texts))
    (folder / "driver.py").write_text(DRIVER)
    together(["driver.py"], folder, python)
    found: dict[str, list[str]] = json.loads((folder / "found.json").read_text())
    return found


@pytest.mark.parametrize("name", FORMS)
def test_all_ranks_end_in_the_batch_in_which_one_ends(name: str, ended: dict[str, list[str]]) -> None:
    assert ended[name] == [BATCHES.get(name, "2")]
