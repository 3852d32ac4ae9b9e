"""How much there is in all is told, beside the number of an iteration, of the rank's own part: its last step ends it."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import math

import numpy as np
import tensorflow as tf
from tqdm import tqdm

images = np.ones([64, 4], "float32")
BATCH, EPOCHS = 8, 3
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.1)


def update(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


def load():
    paths = images + 1
    data = tf.data.Dataset.from_tensor_slices(paths)
    return data.map(lambda x: x * 2), len(paths)


def both():
    made = tf.data.Dataset.from_tensor_slices(images)
    other = tf.data.Dataset.from_tensor_slices(images)
    return tf.data.Dataset.zip((made, other)).map(lambda x, y: x), len(images)


def batches():
    data, count = load()
    return data.shuffle(count).batch(BATCH), count


class Bar:
    def __init__(self, most):
        self.most = most

    def update(self, done):
        print("=" * (10 * done // self.most))


class Counting:
    def __init__(self, most, done=0):
        self.most, self.done = most, done

    def update(self, text=""):
        self.done += 1
        print("{{}}/{{}} {{}}".format(self.done, self.most, text))


def cut(arrays):
    for i in range(0, len(arrays), BATCH):
        yield arrays[i : i + BATCH]


{body}
"""
PIPELINE = "tf.data.Dataset.from_tensor_slices(images).shuffle(64).batch(BATCH)"
SIZE = "hvd.size()"
WHOLE = {
    "of what the pipeline is made of": (
        f"for step, x in enumerate({PIPELINE}):\n    update(x)\n    print(step, len(images) // BATCH)",
        f"print(step, (len(images) // {SIZE}) // BATCH)",
    ),
    "in a text": (
        f"for step, x in enumerate({PIPELINE}):\n    update(x)\n    print(f'{{step}}/{{images.shape[0]}}')",
        f"print(f'{{step}}/{{images.shape[0] // {SIZE}}}')",
    ),
    "in a text of percents": (
        f"for step, x in enumerate({PIPELINE}):\n    update(x)\n    print('%d/%d' % (step, len(images)))",
        f"print('%d/%d' % (step, len(images) // {SIZE}))",
    ),
    "a fraction": (
        f"for step, x in enumerate({PIPELINE}):\n    update(x)\n    print(step * BATCH / len(images))",
        f"print(step * BATCH / (len(images) // {SIZE}))",
    ),
    "counted by hand, in a variable": (
        (
            f"total, step = len(images), 0\nfor x in {PIPELINE}:\n    update(x)\n    step += 1\n"
            "    print('{} of {}'.format(step, math.ceil(total / BATCH)))"
        ),
        f"math.ceil((total // {SIZE}) / BATCH)",
    ),
    "that comes with the data set": (
        "data, count = batches()\nfor step, x in enumerate(data):\n    update(x)\n    print(step, '/', count // BATCH)",
        f"(count // {SIZE}) // BATCH",
    ),
    "that comes with a data set of two": (
        "data, count = both()\nfor step, x in enumerate(data.batch(BATCH)):\n    update(x)\n    print(step, count)",
        f"print(step, count // {SIZE})",
    ),
    "of batches that are dealt out": (
        "for step, x in enumerate(cut(images)):\n    update(x)\n    print(step, len(images) // BATCH)",
        f"print(step, (len(images) // {SIZE}) // BATCH)",
    ),
    "of a loop that counts": (
        "total = EPOCHS * 8\nfor step in range(total):\n    update(images[np.random.randint(0, 64, 8)])\n    print(step, total)",
        f"print(step, total // {SIZE})",
    ),
    "of what a pipeline takes": (
        (
            f"total, step = EPOCHS * 8, 0\nfor x in {PIPELINE}.repeat().take(total):\n    update(x)\n    step += 1\n"
            "    print(f'{step}/{total}')"
        ),
        f"print(f'{{step}}/{{total // {SIZE}}}')",
    ),
    "of what it takes from where a checkpoint is": (
        (
            f"kept, total = tf.train.Checkpoint(step=tf.Variable(0)), EPOCHS * 8\n"
            f"for x in {PIPELINE}.repeat().take(total - kept.step.numpy()):\n    kept.step.assign_add(1)\n"
            "    step = kept.step.numpy()\n    update(x)\n    print(f'{step}/{total}')"
        ),
        f"print(f'{{step}}/{{total // {SIZE}}}')",
    ),
    "of a bar of its own": (
        (
            "batches_in_all = (len(images) + BATCH - 1) // BATCH\nbar = Bar(batches_in_all)\n"
            "for step, x in enumerate(cut(images)):\n    update(x)\n    bar.update(step)"
        ),
        f"batches_in_all = ((len(images) + BATCH - 1) // BATCH) // {SIZE}",
    ),
    **{
        f"of {name}, in front of the loop": (
            (
                f"total = EPOCHS * 8\nkept = tf.train.Checkpoint(step=tf.Variable(0))\nbar = {made}\n"
                f"for x in {PIPELINE}.repeat().take({taken}):\n    kept.step.assign_add(1)\n    update(x)\n    bar.{told}"
            ),
            f"bar = {divided}",
        )
        for name, made, divided, taken, told in (
            ("an object that counts", "Counting(total)", f"Counting(total // {SIZE})", "total", "update()"),
            ("one by name", "Counting(most=total)", f"Counting(most=total // {SIZE})", "total", "update()"),
            (
                "one that goes on",
                "Counting(total, kept.step.numpy())",
                f"Counting(total // {SIZE}, kept.step.numpy())",
                "total - kept.step.numpy()",
                "update(f'{x}')",
            ),
            ("a bar", "tqdm(total=total)", f"tqdm(total=total // {SIZE}", "total", "update(1)"),
            (
                "a bar of Keras",
                "tf.keras.utils.Progbar(total)",
                f"tf.keras.utils.Progbar(total // {SIZE}",
                "total",
                "add(1)",
            ),
        )
    },
    "of a bar": (
        (
            "total = EPOCHS * 8\nbar = tqdm(range(total))\nfor step in bar:\n    update(images[np.random.randint(0, 64, 8)])\n"
            "    bar.set_description(f'{step}/{total}')"
        ),
        f"bar.set_description(f'{{step}}/{{total // {SIZE}}}')",
    ),
}
OTHER = {
    "the number of epochs": f"for step, x in enumerate({PIPELINE}):\n    update(x)\n    print(step, EPOCHS, BATCH)",
    "of other data": f"other = np.ones([9])\nfor step, x in enumerate({PIPELINE}):\n    update(x)\n    print(step, len(other))",
    "the length of a batch": f"for step, x in enumerate({PIPELINE}):\n    update(x)\n    print(step, len(x))",
    "how much there is, alone": f"for step, x in enumerate({PIPELINE}):\n    update(x)\n    print('all', len(images))",
    "of a pass that trains nothing": f"for x in {PIPELINE}:\n    update(x)\n"
    "for step in range(8):\n    print(step, len(images))",
    "where batches have numbers": "for i in range(8):\n    update(images[i * 8 : i * 8 + 8])\n    print(i, len(images) // BATCH)",
    "batches that divide a sum": (
        "count = len(images) // BATCH\nsaid = 0\nfor x in cut(images):\n    update(x)\n    said += 1 / count\n    print(count)"
    ),
    "what is divided": f"data = {PIPELINE}\nfor step, x in enumerate(data):\n    update(x)\n    print(step, len(data))",
}


def rewritten(body: str) -> str:
    found = outcome(PROGRAM.format(body=body))
    assert not found.plan.refusals
    (file,) = found.files.values()
    return file.source


@pytest.mark.parametrize("way", WHOLE)
def test_what_is_told_is_the_part_of_a_rank(way: str) -> None:
    body, told = WHOLE[way]
    assert told in rewritten(body)


def test_steps_that_are_left_are_counted_by_a_rank() -> None:
    body, _ = WHOLE["of what it takes from where a checkpoint is"]
    assert f".take((total // {SIZE}) - kept.step.numpy())" in rewritten(body)


@pytest.mark.parametrize("way", OTHER)
def test_other_numbers_stay(way: str) -> None:
    told = OTHER[way].rpartition("print(")[2]
    assert f"print({told}\n" in rewritten(OTHER[way])
