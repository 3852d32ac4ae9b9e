"""All ranks wait within a function that they all call, where it reads again what rank 0 has written there; also where a program
has loops of Keras and of gradient tapes.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

KERAS = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.ones((64, 4)), np.ones((64, 1))
net = keras.Sequential([keras.layers.Dense(1, input_shape=(4,))])
net.compile("sgd", "mse")


FUNCTION


net.fit(x, y)
"""
TAPE = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.ones((64, 4), "float32"), np.ones((64, 1), "float32")
net = keras.Sequential([keras.layers.Dense(1, input_shape=(4,))])
optimizer = keras.optimizers.SGD(0.1)


FUNCTION


for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(a) - b) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
"""
BOTH = (
    TAPE
    + """\
head = keras.Sequential([keras.layers.Dense(1)])
head.compile("sgd", "mse")
head.fit(x, y)
"""
)
PROGRAMS = {"keras": KERAS, "tape": TAPE, "both": BOTH}
WAITS = {
    "keras": 'hvd.allreduce(0, name="written")',
    "tape": "hvd.broadcast_object(None)",
    "both": "hvd.broadcast_object(None)",
}
FUNCTIONS = {
    "a function": "def keep(net):\n    net.save_weights('net.h5')\n    READ",
    "with a result": "def keep(net):\n    net.save_weights('net.h5')\n    READ\n    return net",
    "a method": "class Keeper:\n    def keep(self, net):\n        net.save_weights('net.h5')\n        READ\n\n\n"
    "keep = Keeper().keep",
}
READ = "net.load_weights('net.h5')"


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_all_wait_within_a_function_that_writes_and_reads(program: str, function: str) -> None:
    made = PROGRAMS[program].replace("FUNCTION", FUNCTIONS[function].replace("READ", READ)) + "keep(net)\n"
    (file,) = outcome(made).files.values()
    lines = [line.strip() for line in file.source.splitlines()]
    assert lines[lines.index(READ) - 1] == WAITS[program]
    assert file.source.count(WAITS[program]) == 1


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_nobody_waits_in_a_function_that_only_writes(program: str, function: str) -> None:
    only = PROGRAMS[program].replace("FUNCTION", FUNCTIONS[function].replace("READ", "net.summary()")) + "keep(net)\n"
    assert all(WAITS[program] not in file.source for file in outcome(only).files.values())
