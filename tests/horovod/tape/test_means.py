"""What a program prints of its losses and metrics is of all the data: on two ranks as in one process.

Rates are so small that weights stay what they were, and they begin alike everywhere. Real processes of Horovod run all programs.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from horovod.printed import Printed, printed_by

HEAD = """\
import numpy as np
import tensorflow as tf

x = np.random.RandomState(0).randn(64, 4).astype("float32")
y = np.arange(64, dtype="float32").reshape(64, 1) / 16 - 2
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(4,))])
optimizer = tf.keras.optimizers.SGD(1e-12)
squares = tf.keras.losses.MeanSquaredError()
"""
STEP = """
{decorator}
def step(a, b):
    with tf.GradientTape() as tape:
        out = model(a, training=True)
        loss = squares(b, out)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    {told}
    return loss


for epoch in range(2):
    {begin}
    for i, (a, b) in enumerate(data):
        loss = step(a, b)
        {turn}
    {end}
"""
WAYS = {
    "a sum of numbers": ("pass", "total, n = 0.0, 0", "total += loss.numpy(); n += 1", "print(total / n)"),
    "a sum of tensors": ("pass", "total = 0.0", "total += loss", "print((total / (i + 1)).numpy())"),
    "a sum that is told": ("pass", "total = 0.0", "total += float(loss)", "print(total)"),
    "a sum over all samples": ("pass", "total = 0.0", "total += loss.numpy() * len(a)", "print(total / len(x))"),
    "a sum over a number": ("pass", "total = 0.0", "total += loss", "print(float(total) / 8)"),
    "a sum over the batches": ("pass", "total = 0.0", "total += loss", "print(float(total / len(data)))"),
    "hits over all samples": (
        "pass",
        "right = 0",
        "right += int(np.sum(b.numpy() > 0))",
        "print(right / 64)",
    ),
    "a list": ("pass", "losses = []", "losses.append(float(loss))", "print(np.mean(losses))"),
    "a list of tensors": ("pass", "losses = []", "losses.append(loss)", "print(tf.reduce_mean(losses).numpy())"),
    "what a function gives": (
        "pass",
        "losses = []",
        "losses.append(step(a, b))",
        "print(float(sum(losses)) / len(losses))",
    ),
    "lists in a dict": (
        "pass",
        "log = {'loss': [], 'mean': []}",
        "log['loss'].append(loss.numpy()); log['mean'].append(float(tf.reduce_mean(b)))",
        "print(np.mean(log['loss']) + np.mean(log['mean']))",
    ),
    "a tuple": ("pass", "kept = (0.0, 0)", "kept = (kept[0] + float(loss), kept[1] + 1)", "print(kept[0] / kept[1])"),
    "a list of tuples": (
        "pass",
        "kept = []",
        "kept.append((float(loss), float(tf.reduce_mean(b))))",
        "print(np.mean([one for one, _ in kept]))",
    ),
    "a default": (
        "pass",
        "kept = {}",
        "kept['loss'] = kept.get('loss', 0.0) + loss",
        "print(float(kept['loss']) / (i + 1))",
    ),
    "an array": ("pass", "kept = np.zeros(2)", "kept += [float(loss), 1.0]", "print(kept[0] / kept[1])"),
    "items of an array": (
        "pass",
        "kept = np.zeros(2)",
        "kept[0] += loss.numpy(); kept[1] += 1",
        "print(kept[0] / kept[1])",
    ),
    "guesses of samples": (
        "pass",
        "kept = []",
        "kept.extend(b.numpy()[:, 0].tolist())",
        "print(np.mean(kept) + len(kept) + max(kept))",
    ),
    "tensors of samples": ("pass", "kept = []", "kept.append(b)", "print(float(tf.reduce_sum(tf.concat(kept, 0))))"),
    "the largest": ("pass", "top = -9.0", "top = max(top, float(tf.reduce_max(b)))", "print(top)"),
    "counts by class": (
        "pass",
        "counts = {}",
        "for each in b.numpy()[:, 0] > 1:\n            counts[each] = counts.get(each, 0) + 1",
        "print(counts[True])",
    ),
    "a metric": ("mean(loss)", "mean.reset_states()", "pass", "print(mean.result().numpy())"),
    "a metric of hits": (
        "hits.update_state(b > 0, tf.sigmoid(out))",
        "hits.reset_states()",
        "pass",
        "print(float(hits.result()))",
    ),
    "metrics in a dict": (
        "named['loss'](loss); hits(b > 0, tf.sigmoid(out))",
        "[each.reset_states() for each in named.values()]",
        "pass",
        "print(float(named['loss'].result()) + float(named['hits'].result()))",
    ),
    "a metric in the loop": ("pass", "mean.reset_states()", "mean.update_state(loss)", "print(f'{mean.result():.6f}')"),
}
METRICS = (
    "mean, hits = tf.keras.metrics.Mean(), tf.keras.metrics.BinaryAccuracy()\n"
    "named = {'loss': tf.keras.metrics.Mean(), 'hits': hits}\n"
)


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    for number, (name, (told, begin, turn, end)) in enumerate(WAYS.items()):
        metrics = METRICS if "mean" in told + turn or "hits" in told else ""
        decorator = "@tf.function" if number % 2 else ""
        yield name, HEAD + metrics + STEP.format(told=told, begin=begin, turn=turn, end=end, decorator=decorator)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """The numbers that rank 0 of two prints in each program, and those of one process."""
    return printed_by(dict(programs()), tmp_path_factory.mktemp("means"))


@pytest.mark.parametrize("name", WAYS)
def test_what_is_printed_is_of_all_the_data(name: str, printed: Printed) -> None:
    alone, ranks = printed["alone"][name], printed["ranks"][name]
    assert len(alone) == 2
    assert ranks == pytest.approx(alone, rel=1e-4)
