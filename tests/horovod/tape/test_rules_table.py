"""The table of the published rules (sections 2.2 and 3.2), in intent: each has a program of its own.

Statements that mean nothing for training, such as `async` and `match`, are passed through with what is in them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.conftest import answer
from horovod.tape.test_restrictions import APPLY, DATA, LOOP, MODEL, OPTIMIZER, STEP, TF, WHOLE, indented

from distml.rewrites.horovod.options import Options

RANK = "if hvd.rank() == 0:\n"
FIT = DATA + MODEL + "model.compile(optimizer={}, loss='mse')\nmodel.fit(data{})\n"
ASYNC = """\
async def read(source):
    async with source as lines:
        async for line in lines:
            print(line)
"""
CHECKPOINT = "kept = tf.train.Checkpoint(model=model)\n"


def optimizer(text: str, imports: str = TF) -> str:
    return imports + WHOLE.replace(OPTIMIZER, f"opt = {text}\n")


def within(head: str) -> str:
    """The whole program in a block, and the call of it if the block is a function."""
    return TF + f"import asyncio\n{head}\n" + indented(WHOLE) + ("asyncio.run(main())\n" if "def main" in head else "")


IMPORTS = {
    "import tensorflow as tf": (
        TF + WHOLE,
        "import tensorflow as tf\nimport horovod.tensorflow as hvd\n\nhvd.init()\n",
    ),
    "import tensorflow": (
        "import tensorflow\n" + WHOLE.replace("tf.", "tensorflow."),
        "tensorflow.config.set_visible_devices(gpus[hvd.local_rank()]",
    ),
    "import tensorflow.compat.v2 as tf": ("import tensorflow.compat.v2 as tf\n" + WHOLE, "hvd.init()\n"),
    "another alias": (
        "import tensorflow as flow\n" + WHOLE.replace("tf.", "flow."),
        "flow.config.set_visible_devices(",
    ),
    "from tensorflow import keras": (
        "from tensorflow import keras\n" + TF + WHOLE.replace("tf.keras", "keras"),
        "keras.optimizers.SGD(0.1 * hvd.size())",
    ),
    "from tensorflow.keras import optimizers": (
        optimizer("optimizers.Adam(0.1)", TF + "from tensorflow.keras import optimizers\n"),
        "optimizers.Adam(0.1 * hvd.size())",
    ),
    "from tensorflow.keras.optimizers import Adam as A": (
        optimizer("A(0.1)", TF + "from tensorflow.keras.optimizers import Adam as A\n"),
        "A(0.1 * hvd.size())",
    ),
}
OPTIMIZERS = {
    "by position": (optimizer("tf.optimizers.Adam(0.1)"), "tf.optimizers.Adam(0.1 * hvd.size())"),
    "by keyword": (
        optimizer("tf.keras.optimizers.RMSprop(rho=0.9, learning_rate=0.1)"),
        "RMSprop(rho=0.9, learning_rate=0.1 * hvd.size())",
    ),
    "by default": (
        optimizer("tf.keras.optimizers.Adam()"),
        "tf.keras.optimizers.Adam(learning_rate=0.001 * hvd.size())",
    ),
    "with a class as the optimizer of compile": (
        TF + FIT.format("tf.keras.optimizers.Adagrad(0.1)", ""),
        "hvd.DistributedOptimizer(tf.keras.optimizers.Adagrad(0.1 * hvd.size()))",
    ),
    "with a string": (
        TF + FIT.format("'rmsprop'", ""),
        "hvd.DistributedOptimizer(tf.keras.optimizers.RMSprop(0.001 * hvd.size()))",
    ),
}
UPDATES = {
    "apply_gradients as a statement": (TF + WHOLE, f"    {APPLY}\n    if not broadcast_done:\n"),
    "apply_gradients assigned": (
        TF + WHOLE.replace(APPLY, f"done = {APPLY}"),
        f"    done = {APPLY}\n    if not broadcast_done:\n",
    ),
    "apply_gradients by keyword": (
        TF + WHOLE.replace("gradients(zip", "gradients(grads_and_vars=zip"),
        "opt.apply_gradients(grads_and_vars=zip(grads, model.trainable_variables))\n    if not broadcast_done:\n",
    ),
}
RANK_ZERO = {
    "print": (TF + WHOLE + "print('done')\n", RANK + "    print('done')\n"),
    "checkpoint.save": (TF + WHOLE + CHECKPOINT + "kept.save('a')\n", RANK + "    kept.save('a')\n"),
    "checkpoint.save assigned": (
        TF + WHOLE + CHECKPOINT + "path = kept.save('a')\n",
        RANK + "    path = kept.save('a')\n",
    ),
    "summary of a model": (TF + WHOLE + "model.summary()\n", RANK + "    model.summary()\n"),
    "save_weights": (TF + WHOLE + "model.save_weights('w')\n", RANK + "    model.save_weights('w')\n"),
    "write of a file": (
        TF + WHOLE + "with open('log', 'w') as out:\n    out.write('done')\n",
        RANK + "    with open('log', 'w') as out:\n        out.write('done')\n",
    ),
}
REST = {
    "CUDA_VISIBLE_DEVICES goes": ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n" + TF + WHOLE, "hvd.init()\n"),
    "a data set that is created and cut with take": (
        TF + WHOLE.replace("for x, y in data:", "for x, y in data.take(400):"),
        "data.take(400 // hvd.size())",
    ),
    "load_weights is for all": (
        TF + DATA + MODEL + "model.load_weights('w')\n" + OPTIMIZER + STEP + LOOP,
        "\nmodel.load_weights('w')\n",
    ),
    "fit without callbacks": (
        TF + FIT.format("'sgd'", ", epochs=2"),
        "callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)",
    ),
    "fit with a list of callbacks": (
        TF + FIT.format("'sgd'", ", callbacks=[tf.keras.callbacks.ModelCheckpoint('m')]"),
        "tf.keras.callbacks.ModelCheckpoint('m') if hvd.rank() == 0 else tf.keras.callbacks.Callback()]",
    ),
    "fit with verbose": (TF + FIT.format("'sgd'", ", verbose=2"), "verbose=2 if hvd.rank() == 0 else 0"),
}
BLOCKS = {
    "async def": (within("async def main():"), "\nasync def main():\n"),
    "async with and async for": (
        TF + WHOLE + ASYNC,
        ASYNC.replace("            print(line)", "            if hvd.rank() == 0:\n                print(line)"),
    ),
    "match": (
        "import sys\n"
        + TF
        + "match len(sys.argv):\n    case 1:\n"
        + indented(indented(WHOLE))
        + "    case _:\n        print('none')\n",
        "    case _:\n        if hvd.rank() == 0:\n            print('none')\n",
    ),
    "try": (
        TF + "try:\n" + indented(WHOLE) + "finally:\n    print('end')\n",
        "finally:\n    if hvd.rank() == 0:\n        print('end')\n",
    ),
    "while and else": (
        TF
        + WHOLE.replace(
            LOOP, "epoch = 0\nwhile epoch < 2:\n" + indented(LOOP) + "    epoch += 1\nelse:\n    print('end')\n"
        ),
        "else:\n    if hvd.rank() == 0:\n        print('end')\n",
    ),
    "with of several items": (
        TF + WHOLE.replace("with tf.GradientTape() as tape:", "with tf.name_scope('a'), tf.GradientTape() as tape:"),
        "        loss = tf.reduce_mean((model(x) - y) ** 2)\n    tape = hvd.DistributedGradientTape(tape)\n",
    ),
    "a walrus": (
        TF
        + WHOLE.replace(
            "    return loss", "    if (value := loss) is None:\n        raise ValueError\n    return value"
        ),
        "(value := loss)",
    ),
}
TABLE = {**IMPORTS, **OPTIMIZERS, **UPDATES, **RANK_ZERO, **REST, **BLOCKS}


@pytest.mark.parametrize("name", TABLE)
def test_a_rule(name: str, tmp_path: Path) -> None:
    program, part = TABLE[name]
    found = answer(program, Options(), tmp_path / "train.py")
    assert "HVD2" not in found.remarks, found.remarks
    assert part in found.rewritten, found.rewritten
    assert "CUDA_VISIBLE_DEVICES" not in found.rewritten
    kept = [
        line
        for line in program.splitlines()
        if line.strip().startswith(("async ", "match ", "case ", "class ", "def "))
    ]
    assert [line for line in kept if line not in found.rewritten.splitlines()] == []
    compile(found.rewritten, name, "exec")
    assert answer(found.rewritten, Options(), tmp_path / "train.py").rewritten == ""


@pytest.mark.parametrize(
    ("framework", "rewritten"), [("auto", True), ("tensorflow", True), ("keras", False), ("torch", False)]
)
def test_only_loops_of_one_framework(framework: str, rewritten: bool, tmp_path: Path) -> None:
    found = answer(TF + WHOLE, Options(framework=framework), tmp_path / "train.py")
    assert bool(found.rewritten) == rewritten
