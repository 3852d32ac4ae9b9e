"""The restrictions of the published rules (sections 2.1 and 3.1): a program that breaks each is rewritten all the same, or
refused by a code. A training loop in several files (3.1.1) is in tests/cli/test_horovod.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.conftest import answer

from distml.rewrites.horovod.options import Options

TF = "import tensorflow as tf\n"
DATA = "data = tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8)\n"
MODEL = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
OPTIMIZER = "opt = tf.keras.optimizers.SGD(0.1)\n"
APPLY = "opt.apply_gradients(zip(grads, model.trainable_variables))"
STEP = f"""\
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    {APPLY}
    return loss
"""
LOOP = "for x, y in data:\n    step(x, y)\n"
WHOLE = DATA + MODEL + OPTIMIZER + STEP + LOOP

PARTS = "shard(hvd.size(), hvd.rank())"
TAPE = "tape = hvd.DistributedGradientTape(tape)"
RATE = "tf.keras.optimizers.SGD(0.1 * hvd.size())"
WEIGHTS = "hvd.broadcast_variables(model.variables, root_rank=0)"
ALL = (PARTS, TAPE, RATE, WEIGHTS)


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


CASES = {
    "2.1.1 imports below the top": ("def main():\n" + indented(TF + WHOLE) + "\n\nmain()\n", ALL),
    "2.1.2 a module by a call": ("import importlib\n\ntf = importlib.import_module('tensorflow')\n" + WHOLE, ALL),
    "2.1.2 a module under a second name": ("import tensorflow\n\ntf = tensorflow\n" + WHOLE, ALL),
    "2.1.3 members under other names": (
        TF
        + "SGD, Tape = tf.keras.optimizers.SGD, tf.GradientTape\n"
        + WHOLE.replace("tf.keras.optimizers.SGD(", "SGD(").replace("tf.GradientTape", "Tape"),
        (PARTS, TAPE, "SGD(0.1 * hvd.size())", WEIGHTS),
    ),
    "2.1.4 a print that does more": (
        TF
        + WHOLE.replace("    step(x, y)\n", "    print(kept.append(step(x, y)))\n").replace(
            "for x", "kept = []\nfor x"
        ),
        (*ALL, "\n    on_rank_zero(print)(kept.append(step(x, y)))\n"),
    ),
    "2.1.5 data and optimizer under second names": (
        TF
        + DATA
        + MODEL
        + OPTIMIZER
        + "other, again = opt, data\n"
        + STEP.replace(APPLY, f"other{APPLY[3:]}")
        # the loop reads the second name too
        + LOOP.replace("data", "again"),
        ALL,
    ),
    "2.1.6 their names mean something else later": (TF + WHOLE + "opt, data = 3, None\n", ALL),
    "2.1.7 one of several": (
        f"import sys\n{TF}if len(sys.argv) > 1:\n"
        + indented(DATA + OPTIMIZER)
        + "else:\n"
        + indented(DATA.replace("batch(8)", "batch(4)") + OPTIMIZER.replace("SGD(0.1)", "Adam(0.01)"))
        + MODEL
        + STEP
        + LOOP,
        (*ALL, "tf.keras.optimizers.Adam(0.01 * hvd.size())", "batch(8)", "batch(4)"),
    ),
    "2.1.8 gradients applied within an expression": (
        TF + WHOLE.replace(f"    {APPLY}\n    return loss", f"    return loss, [{APPLY}]"),
        ALL,
    ),
    "2.1.9 a global made after the function": (TF + DATA + MODEL + STEP + OPTIMIZER + LOOP, ALL),
    "2.1.9 a global that is replaced": (
        TF
        + DATA
        + MODEL
        + OPTIMIZER
        + STEP
        + "def slower():\n    global opt\n    opt = tf.keras.optimizers.SGD(0.01)\n"
        # called before the loop
        "slower()\n" + LOOP,
        (*ALL, "tf.keras.optimizers.SGD(0.01 * hvd.size())"),
    ),
    "2.1.10 checkpoints under second names, or none": (
        TF
        + WHOLE
        + "saver = kept = tf.train.Checkpoint(model=model)\nsaver.save('a')\ntf.train.Checkpoint(model=model).save('b')\n",
        (*ALL, "if hvd.rank() == 0:\n    saver.save('a')\n    tf.train.Checkpoint(model=model).save('b')\n"),
    ),
    "3.1.3 one model in two kinds of loop": (
        TF + WHOLE + "model.compile(optimizer='sgd', loss='mse')\nmodel.fit(data, epochs=2)\n",
        (
            *ALL,
            ".DistributedOptimizer(tf.keras.optimizers.SGD(0.01 * hvd.size()))",
            "BroadcastGlobalVariablesCallback(0)",
        ),
    ),
    "3.1.4 functions in variables and as arguments": (
        TF
        + DATA
        + MODEL
        + OPTIMIZER
        + STEP
        + "def drive(do):\n"
        + indented(LOOP.replace("step", "do"))
        + "run = step\ndrive(run)\n",
        ALL,
    ),
    "3.1.5 a loop under a condition": (
        f"import sys\n{TF}" + WHOLE.replace(LOOP, "if len(sys.argv) > 1:\n" + indented(LOOP)),
        ALL,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_the_published_rules_cannot_take(name: str, tmp_path: Path) -> None:
    program, parts = CASES[name]
    found = answer(program, Options(), tmp_path / "train.py")
    assert "HVD2" not in found.remarks
    assert [part for part in parts if part not in found.rewritten] == []
    compile(found.rewritten, name, "exec")
    again = answer(found.rewritten, Options(), tmp_path / "train.py")
    assert (again.rewritten, again.remarks.partition(": ")[2][:6]) == ("", "HVD201")


def test_neither_a_tape_nor_an_optimizer_to_wrap(tmp_path: Path) -> None:
    """3.1.2: the one that still binds."""
    by_hand = (
        DATA
        + "w = tf.Variable(tf.zeros([4, 1]))\nfor x, y in data:\n    with tf.GradientTape() as tape:\n"
        + "        loss = tf.reduce_mean((x @ w - y) ** 2)\n    w.assign_sub(0.1 * tape.gradient(loss, w))\n"
    )
    found = answer(TF + by_hand, Options(), tmp_path / "train.py")
    assert found.rewritten == ""
    assert "HVD203 `w.assign_sub(0.1 * tape.gradient(loss, w))` updates variables by hand" in found.remarks
    assert "let an optimizer such as `tf.keras.optimizers.SGD` apply the gradients" in found.remarks
