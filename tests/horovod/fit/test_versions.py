"""Keras in TensorFlow 1: each process tells the session of Keras its GPU, and rates keep the name that they have there."""

from __future__ import annotations

import pytest
from horovod.tape.test_ranks import rewritten

PROGRAM = """\
{imports}
import numpy as np
import tensorflow as tf

{says}
model = {keras}.models.Sequential([{keras}.layers.Dense(1, input_shape=(4,))])
model.compile({keras}.optimizers.Adam(lr=0.01), "mse")
model.fit(np.ones([64, 4]), np.ones([64, 1]))
"""
SAYS = {
    "flags": 'tf.flags.DEFINE_integer("epochs", 9, "")',
    "flags of an application": 'flags = tf.app.flags\nflags.DEFINE_integer("epochs", 9, "")',
    "a random seed": "tf.set_random_seed(1)",
    "events": 'writer = tf.summary.FileWriter("logs")',
    "logging": "tf.logging.set_verbosity(tf.logging.ERROR)",
    "a placeholder": "x = tf.placeholder(tf.float32, [None, 4])",
    "contrib": "init = tf.contrib.layers.xavier_initializer()",
}
FIRST = """\
hvd.init()
config = tf.ConfigProto()
config.gpu_options.visible_device_list = str(hvd.local_rank())
"""


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize(
    ("imports", "keras", "module"),
    [
        ("", "tf.keras", "horovod.tensorflow.keras"),
        ("import keras", "keras", "horovod.keras"),
        ("from keras import layers, models, optimizers", "", "horovod.keras"),
    ],
)
def test_the_session_is_told_its_gpu(says: str, imports: str, keras: str, module: str) -> None:
    text = PROGRAM.format(imports=imports, keras=keras, says=SAYS[says])
    found = rewritten(text if keras else text.replace("= .", "= ").replace("[.", "[").replace("(.", "("))
    assert f"import {module} as hvd\n" in found
    assert f"{FIRST}{keras or 'keras'}.backend.set_session(tf.Session(config=config))\n" in found
    assert "Adam(lr=0.01 * hvd.size())" in found
    assert "list_physical_devices" not in found


@pytest.mark.parametrize(
    "says", ["", "tf.random.set_seed(1)", "tf.compat.v1.set_random_seed(1)", "step = tf.compat.v1.Session()"]
)
def test_programs_of_tensorflow_2_are_told_of_their_gpus(says: str) -> None:
    found = rewritten(PROGRAM.format(imports="import keras", keras="keras", says=says))
    assert 'tf.config.list_physical_devices("GPU")' in found
    assert "Adam(learning_rate=0.01 * hvd.size())" in found
    assert "import horovod.tensorflow.keras as hvd" in found


LEARN = """\
import keras
import numpy as np
import tensorflow as tf
from keras import optimizers

tf.set_random_seed(1)


def learn(optimizer, name):
    model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(4,))])
    model.compile({optimizer}, "mse")
    model.fit(np.ones([64, 4]), np.ones([64, 1]), callbacks=[keras.callbacks.ModelCheckpoint("m.h5")])


learn(keras.optimizers.SGD(0.1), "sgd")
"""


@pytest.mark.parametrize("optimizer", ['"sgd"', "optimizer", "optimizers.get(name)", "name"])
def test_what_is_added_is_of_the_package_that_is_used(optimizer: str) -> None:
    """The package `keras` takes no optimizers of TensorFlow's."""
    found = rewritten(LEARN.format(optimizer=optimizer))
    assert "DistributedOptimizer" in found
    assert "tf.keras" not in found
    assert "from tensorflow import keras" not in found
