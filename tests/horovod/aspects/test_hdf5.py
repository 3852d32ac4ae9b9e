"""A file of HDF5, which two processes cannot open to write at once, is made by rank 0 wherever that stands; readers wait."""

from __future__ import annotations

import pytest
from horovod.torch.programs import rewritten_files

FLOWS = {
    "fit": """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")
model.fit(x, y)
""",
    "tape": """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
optimizer = tf.keras.optimizers.SGD(0.1)
for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(a) - b) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
""",
    "session": """
v1 = tf.compat.v1
p, q = v1.placeholder(tf.float32, [None, 4]), v1.placeholder(tf.float32, [None, 1])
step = v1.train.AdamOptimizer(0.1).minimize(tf.reduce_mean((v1.layers.dense(p, 1) - q) ** 2))
with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    for i in range(0, 64, 8):
        session.run(step, {p: x[i : i + 8], q: y[i : i + 8]})
""",
}
SCRIPT = """\
import sys
import tensorflow as tf
import files

if len(sys.argv) > 1:
    shape = files.make("data.h5", 64)
else:
    files.make("data.h5")
x, y = files.load("data.h5")
"""
ONCE = """\
import tensorflow as tf
import files

files.make("data.h5")
x, y = files.load("data.h5")
"""
FILES = """\
import h5py
import numpy as np


def make(path, n=None):
    {made}
    return n


def load(path):
    with h5py.File(path{mode}) as f:
        return np.array(f["x"]), np.array(f["y"])
"""
MADE = {
    "with": ("with h5py.File(path, 'w') as f:", "    f.create_dataset('x', data=np.ones((64, 4)))"),
    "opened": ("f = h5py.File(path, 'w')", "f['x'] = np.ones((64, 4))", "f.close()"),
    "by name": ("with h5py.File(name=path, mode='w') as f:", "    f['x'] = np.ones((64, 4))"),
}


@pytest.mark.parametrize("mode", ["", ", 'r'", ", mode='r'"])
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("flow", ["fit", "tape"])
def test_one_process_of_a_machine_makes_it_where_that_is_all(flow: str, made: str, mode: str) -> None:
    text = FILES.format(made="\n    ".join(MADE[made]), mode=mode).replace("\n    return n\n", "\n")
    found = rewritten_files({"train.py": ONCE + FLOWS[flow], "files.py": text}, "horovod")
    assert 'if hvd.local_rank() == 0:\n    files.make("data.h5")\n' in found["train.py"]
    assert "files.py" not in found


@pytest.mark.parametrize("mode", ["", ", 'r'", ", mode='r'"])
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("flow", FLOWS)
def test_rank_zero_makes_it_and_all_wait(flow: str, made: str, mode: str) -> None:
    text = FILES.format(made="\n    ".join(MADE[made]), mode=mode)
    files = {"train.py": SCRIPT + FLOWS[flow], "files.py": text}
    found = rewritten_files(files, "horovod")
    assert "if not hvd.is_initialized() or hvd.rank() == 0:" in found["files.py"].split("h5py.File")[0]
    before, _, _ = found["train.py"].partition("x, y = files.load")
    assert any(each in before for each in ("broadcast_object(None)", 'name="written"', "waiting.run("))


LOGGER = """\
import os
import h5py


class Logger:
    def __init__(self, folder):
        {made}
        self.rows = self.file.create_dataset("x", shape=(64,))

    def write(self, i, value):
        self.rows[i] = value
"""
KEPT = {
    "an attribute": "self.file = h5py.File(os.path.join(folder, 'log.h5'), 'w')",
    "an attribute by name": "self.file = h5py.File(name=os.path.join(folder, 'log.h5'), mode='a')",
    "a variable that is kept": "made = h5py.File(os.path.join(folder, 'log.h5'), 'w')\n        self.file = made",
}
LOGGED = """\
import sys
import torch
import files

data = torch.utils.data.TensorDataset(torch.ones(64, 4))
log = files.Logger(sys.argv[1])
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x,) in enumerate(torch.utils.data.DataLoader(data, batch_size=8)):
    loss = model(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log.write(i, loss.item())
"""


@pytest.mark.parametrize("kept", KEPT)
def test_where_it_goes_on_to_be_written_other_ranks_have_one_of_their_own(kept: str) -> None:
    """Two processes that open the same file to write fail."""
    found = rewritten_files({"train.py": LOGGED, "files.py": LOGGER.format(made=KEPT[kept])})
    line = next(each for each in found["files.py"].splitlines() if "h5py.File(" in each)
    assert 'if os.environ.get("RANK", "0") == "0" else' in line and "tempfile.mkdtemp()" in line
