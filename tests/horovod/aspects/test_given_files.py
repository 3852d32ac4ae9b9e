"""Files among the paths are a program's, whatever they name; what they put out is rank 0's, and the script sets up the GPU."""

from __future__ import annotations

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import Outcome
from distml.rewrites.horovod.tree import survey
from distml.source.project import Project

TRAIN = """\
import tensorflow as tf
from beside import {names}

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)


def train():
    for x, y in tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        {call}
"""
MAIN = "{first}import logging\nfrom train import train\n\nif __name__ == '__main__':\n    logging.info('begins')\n    train()\n"
FIRST = "if hvd.rank() == 0:\n"
IMPORTED = "if not hvd.is_initialized() or hvd.rank() == 0"
NOWHERE = f"{IMPORTED} else os.devnull, 'w')"
BESIDE = {
    "prints": ("def told(x):\n    print(x)\n", f"    {IMPORTED}:\n        print(x)\n"),
    "logs": ("import logging\n\n\ndef told(x):\n    logging.info(x)\n", f"    {IMPORTED}:\n        logging.info(x)\n"),
    "writes": (
        "def told(x):\n    with open('a', 'w') as f:\n        f.write(str(x))\n",
        f"    {IMPORTED}:\n        with open('a', 'w')",
    ),
    "writes what it opens": (
        "def told(x):\n    f = open('a', 'w')\n    f.write(x)\n    return f\n",
        f"open('a' {NOWHERE}",
    ),
    "writes by a name that it completes": (
        """\
import os
import oyaml


def named(path):
    stem, end = os.path.splitext(path)
    return stem + '.yml'


def told(x, path='a'):
    path = named(path)
    with open(path, 'w') as f:
        oyaml.dump(x, f)
""",
        f"open(path {NOWHERE}",
    ),
    "draws": (
        "import matplotlib.pyplot as plt\n\n\ndef told(x):\n    plt.savefig('a')\n",
        f"    {IMPORTED}:\n        plt.savefig('a')\n",
    ),
}


def outcomes(files: dict[str, str]) -> list[Outcome]:
    """What becomes of programs, in a folder of their own."""
    overlay = {f"/nowhere/{name}": text.encode() for name, text in files.items()}
    found = survey([*overlay], Options(), Project("/nowhere", overlay=overlay), overlay)
    assert not found.problems
    return found.outcomes


def changed(files: dict[str, str]) -> dict[str, str]:
    """The texts of the files that are changed."""
    return {
        location.rpartition("/")[2]: file.source
        for outcome in outcomes(files)
        for location, file in outcome.files.items()
    }


@pytest.mark.parametrize("what", BESIDE)
def test_what_a_file_puts_out_is_rank_0s_also_if_it_names_no_framework(what: str) -> None:
    beside, expected = BESIDE[what]
    found = changed(
        {"train.py": TRAIN.format(names="told", call="told(1)"), "beside.py": beside, "run.py": MAIN.format(first="")}
    )
    assert expected in found["beside.py"]
    assert f"    {FIRST}        logging.info('begins')\n" in found["run.py"]


@pytest.mark.parametrize(
    ("beside", "sets_up"),
    [
        ("def told(x):\n    print(x)\n", False),
        ("import tensorflow as tf\n\n\n@tf.function\ndef told(x):\n    tf.print(x)\n    print(x)\n", False),
        ("import tensorflow as tf\n\none = tf.constant(1)\n\n\ndef told(x):\n    print(x + one)\n", True),
        ("import tensorflow as tf\n\n\ndef told(x, one=tf.ones(1)):\n    print(x + one)\n", True),
        ("import tensorflow as tf\n\n\nclass A:\n    one = tf.Variable(1)\n\n\ndef told(x):\n    print(x)\n", True),
    ],
)
def test_the_script_chooses_the_gpu_unless_an_imported_file_needs_one_before(beside: str, sets_up: bool) -> None:
    found = changed(
        {"train.py": TRAIN.format(names="told", call="told(1)"), "beside.py": beside, "run.py": MAIN.format(first="")}
    )
    assert "set_visible_devices" in found["run.py"]
    assert ("set_visible_devices" in found["beside.py"]) is sets_up
    assert ("hvd.init()" in found["beside.py"]) is sets_up


PLAYS = {
    "an import": ("import gym\n", "train()"),
    "a step": ("", "obs, reward, done, info = env.step(0)\n    train()"),
}


@pytest.mark.parametrize("what", PLAYS)
def test_steps_that_a_file_with_an_environment_asks_for_are_refused(what: str) -> None:
    first, play = PLAYS[what]
    main = f"{first}from train import train\n\n\ndef play(env):\n    {play}\n\n\nplay(None)\n"
    (outcome,) = outcomes(
        {"train.py": TRAIN.format(names="told", call="pass"), "beside.py": "told = 1\n", "run.py": main}
    )
    assert {each.code for each in outcome.plan.refusals} == {"HVD214"}


@pytest.mark.parametrize(
    "made",
    [
        "import tensorflow.contrib as c\nstep = c.layers.optimize_loss(loss, None, 0.1, 'Adam')",
        "step = tf.contrib.layers.optimize_loss(loss, None, 0.1, 'Adam')",
        "from tensorflow.contrib import layers\nstep = layers.optimize_loss(loss, None, 0.1, 'Adam')",
        "from tensorflow.contrib.layers import optimize_loss\nstep = optimize_loss(loss, None, 0.1, 'Adam')",
    ],
)
def test_steps_that_the_library_makes_are_found(made: str) -> None:
    text = f"""\
import numpy as np
import tensorflow as tf

data = np.ones([64, 4])
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
{made}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(data) // 4):
        sess.run(step, {{x: data[i * 4 : i * 4 + 4]}})
"""
    assert (
        "lambda rate: hvd.DistributedOptimizer(tf.train.AdamOptimizer(rate))" in changed({"train.py": text})["train.py"]
    )


@pytest.mark.parametrize("others", [["judge.py"], ["judge.py", "speak.py"]])
def test_a_script_that_others_import_is_still_one(others: list[str]) -> None:
    script = "def model():\n    return 1\n\n\n" + TRAIN.format(names="told", call="told(1)")
    script = script + "\n\nif __name__ == '__main__':\n    print('begins')\n    train()\n"
    beside = "import matplotlib.pyplot as plt\n\n\ndef told(x):\n    plt.savefig('a')\n"
    users = dict.fromkeys(others, "import tensorflow as tf\nfrom train import model\n\nprint(model())\n")
    found = changed({"train.py": script, "beside.py": beside, **users})
    assert f"    {FIRST}        print('begins')\n" in found["train.py"]
    assert f"    {IMPORTED}:\n        plt.savefig('a')\n" in found["beside.py"]


def test_what_a_supervised_session_draws_is_rank_0s() -> None:
    script = """\
import numpy as np
import tensorflow as tf
from beside import told

x = tf.placeholder(tf.float32, [None, 4])
step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.layers.dense(x, 1)))
sv = tf.train.Supervisor()
with sv.managed_session() as sess:
    for i in range(100):
        sess.run(step, {x: np.random.randn(8, 4)})
        told(i)
"""
    found = changed(
        {"train.py": script, "beside.py": "import matplotlib.pyplot as plt\n\n\ndef told(x):\n    plt.savefig('a')\n"}
    )
    assert f"    {IMPORTED}:\n        plt.savefig('a')\n" in found["beside.py"]
