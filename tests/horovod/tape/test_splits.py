"""A split into training and evaluation data is one split on all ranks: real processes of Horovod draw it in 36 ways."""

from __future__ import annotations

import json

import pytest
from horovod.tape.test_ranks import rewritten

from smoke.environments import horovod_python
from spmd.running import together

HEAD = """\
import random
import time
import numpy as np
import tensorflow as tf

{above}
x = np.arange(32, dtype="float32").reshape(32, 1)
y = np.zeros((32, 1), dtype="float32")
"""
ORDER = "x_train, y_train, x_test, y_test = x[order[:24]], y[order[:24]], x[order[24:]], y[order[24:]]\n"
FIT = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
model.compile(optimizer="sgd", loss="mse")
model.fit(x_train, y_train, batch_size=4, epochs=1, validation_data=(x_test, y_test))
"""
TAPE = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
optimizer = tf.keras.optimizers.SGD(1e-9)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(24).batch(4)
for a, b in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(a) - b) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
print(float(tf.reduce_mean((model(x_test) - y_test) ** 2)))
"""
PIPE = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
model.compile(optimizer="sgd", loss="mse")
model.fit(train.batch(4), epochs=1, validation_data=test.batch(4))
x_train, x_test = [[a.numpy() for a, b in each] for each in (train, test)]
"""
DRAWS = {
    "in place": ("", "order = np.arange(32)\nnp.random.shuffle(order)\n"),
    "Python": ("", "order = list(range(32))\nrandom.shuffle(order)\n"),
    "permutation": ("", "order = np.random.permutation(32)\n"),
    "argsort": ("", "order = np.random.rand(32).argsort()\n"),
    "a generator without a seed": ("", "order = np.random.default_rng().permutation(32)\n"),
    "a generator of Python": ("", "order = list(range(32))\nrandom.Random().shuffle(order)\n"),
    "an old generator": ("", "order = np.random.RandomState().permutation(32)\n"),
    "the time as a seed": ("", "np.random.seed(int(time.time() * 1e6) % 10000)\norder = np.random.permutation(32)\n"),
    "TensorFlow": ("", "order = tf.random.shuffle(tf.range(32)).numpy()\n"),
    "TensorFlow, argsort": ("", "order = tf.argsort(tf.random.uniform([32])).numpy()\n"),
    "in a function": (
        "def split(n):\n    order = np.arange(n)\n    np.random.shuffle(order)\n    return order\n",
        "order = split(32)\n",
    ),
    "in a class": (
        "class Split:\n    def __init__(self, n):\n        self.order = np.random.permutation(n)\n",
        "order = Split(32).order\n",
    ),
    "in a method": (
        (
            "class Split:\n    def draw(self, n):\n        self.order = np.arange(n)\n"
            "        np.random.shuffle(self.order)\n        return self.order\n"
        ),
        "order = Split().draw(32)\n",
    ),
    "sorted": ("", "order = sorted(range(32), key=lambda i: random.random())\n"),
    "choice": (
        "",
        "order = np.random.choice(32, 24, replace=False)\norder = np.concatenate([order, np.setdiff1d(np.arange(32), order)])\n",
    ),
    "sample": ("", "order = random.sample(range(32), 32)\n"),
    "a state that is restored": (
        "",
        (
            "state = np.random.get_state()\nnp.random.shuffle(x)\n"
            "np.random.set_state(state)\nnp.random.shuffle(y)\norder = np.arange(32)\n"
        ),
    ),
}
PIPES = {
    "of a pipeline": "data = tf.data.Dataset.from_tensor_slices((x, y))\n"
    "data = data.shuffle(32, reshuffle_each_iteration=False)\ntrain, test = data.take(24), data.skip(24)\n",
    "by Keras": "train, test = tf.keras.utils.split_dataset((x, y), left_size=24, shuffle=True)\n",
}
WAYS = {f"{n}, {k}": (a, d + ORDER + f) for n, (a, d) in DRAWS.items() for k, f in (("fit", FIT), ("tape", TAPE))}
WAYS |= {n: ("", d + PIPE) for n, d in PIPES.items()}
DRIVER = """
import json, random, runpy, sys, tempfile
import numpy as np

found = {}
for name, text in json.load(open(sys.argv[1])).items():
    np.random.seed(), random.seed()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(text)
        script.flush()
        held = runpy.run_path(script.name, run_name="__main__")  # what is traced is read from its file
    found[name] = [[float(each) for each in np.ravel(held[part])] for part in ("x_train", "x_test")]
import horovod.tensorflow as hvd

with open(sys.argv[2] + str(hvd.rank()), "w") as told:
    json.dump(found, told)
"""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, tuple[list[float], list[float]]]]:
    """The samples for training and evaluation that each of two ranks has in each program."""
    folder, python = tmp_path_factory.mktemp("splits"), horovod_python("tensorflow")
    texts = {name: rewritten(HEAD.format(above=above) + body) for name, (above, body) in WAYS.items()}
    (folder / "driver.py").write_text(DRIVER)
    (folder / "texts.json").write_text(json.dumps(texts))
    together(["driver.py", "texts.json", "found"], folder, python)
    return [json.loads((folder / f"found{rank}").read_text()) for rank in (0, 1)]


@pytest.mark.parametrize("name", WAYS)
def test_no_rank_trains_on_what_is_evaluated(name: str, held: list[dict[str, tuple[list[float], list[float]]]]) -> None:
    (one, judged), (other, as_well) = held[0][name], held[1][name]
    assert judged == as_well
    assert not {*one, *other} & {*judged}
    assert {*one, *other, *judged} == {float(each) for each in range(32)}
