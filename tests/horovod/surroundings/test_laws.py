"""The laws behind what generated programs got wrong, each by a table."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome


def rewritten(text: str) -> str:
    """What a program becomes."""
    found = outcome(text)
    assert not found.plan.refusals
    (file,) = found.files.values()
    return file.source


FED = """\
import os

import numpy as np
import tensorflow.compat.v1 as tf
from tqdm import tqdm, trange

tf.disable_eager_execution()
data = np.ones((64, 4), "float32")


def put(path, words):
    with open(path, "w") as f:
        f.write(" ".join(words))


{before}
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(2):
        {loop}
        {behind}
"""
LOOP = """for i in {items}:
            _, cost = sess.run([step, loss], {{x: data[i * 8:i * 8 + 8]}})
            {each}"""


def fed(before: str = "", items: str = "range(8)", each: str = "pass", behind: str = "pass") -> str:
    return rewritten(FED.format(before=before, loop=LOOP.format(items=items, each=each), behind=behind))


LOADED = """\
def load():
    if not os.path.exists("d.npy"):
        np.save("d.npy", data)
    return np.load("d.npy")


data = load()
"""


@pytest.mark.parametrize(
    "before",
    [
        'put("words", ["a", "b"])\nwords = open("words").read()',
        'if not os.path.exists("d.npy"):\n    np.save("d.npy", data)\ndata = np.load("d.npy")',
        LOADED,
    ],
)
def test_what_is_written_before_a_session_is_waited_for_in_a_graph_of_its_own(before: str) -> None:
    text = fed(before)
    assert "as waiting:\n" in text and "hvd.local_rank()" in text
    assert not outcome(
        FED.format(before=before, loop=LOOP.format(items="range(8)", each="pass"), behind="pass")
    ).plan.warnings


TURN = "for (turn, i) in enumerate("


BAR = "total = 0.0\nbar = tf.keras.utils.Progbar(8)"


@pytest.mark.parametrize(
    ("given", "becomes", "dealt"),
    [
        ({"each": "total += cost", "behind": "print(total / (i + 1))"}, "print(total / (turn + 1))", True),
        ({"each": "total += cost", "behind": "print(total / i)"}, "print(total / turn)", True),
        ({"each": "print(total / (i + 1))"}, "print(total / (turn + 1))", True),
        ({"each": "print(i)"}, "print(i)", False),
        ({"before": BAR, "each": "bar.update(i + 1)"}, "bar.update(turn + 1)", True),
        ({"behind": "print(2 / epoch)"}, "print(2 / epoch)", False),
        ({"items": "range(1, 8)", "behind": "print(total / i)"}, "print(total / i)", False),
    ],
)
def test_what_divides_counts_the_iterations_of_a_rank(given: dict[str, str], becomes: str, dealt: bool) -> None:
    text = fed(**{"before": "total = 0.0", "items": "tqdm(range(8))", **given})
    assert becomes in text
    assert ("enumerate(" in text) is dealt


@pytest.mark.parametrize(
    ("bar", "becomes"),
    [
        ("tqdm(batches(), total=count)", "total=count // hvd.size()"),
        ("tqdm(batches(), total=64 // 8)", "total=(64 // 8) // hvd.size()"),
        ("tqdm(batches(), 'all', 8)", "'all', 8 // hvd.size()"),
        ("tqdm(batches())", "* hvd.size())), disable"),
    ],
)
def test_a_bar_around_items_that_are_dealt_out_is_told_how_many_a_rank_gets(bar: str, becomes: str) -> None:
    before = "count = 8\n\n\ndef batches():\n    for i in range(8):\n        yield data[i * 8 : i * 8 + 8]\n"
    loop = f"for rows in {bar}:\n            sess.run(step, {{x: rows}})"
    assert becomes in rewritten(FED.format(before=before, loop=loop, behind="pass"))


KERAS = """\
import numpy as np
import tensorflow as tf
from absl import app
from tqdm import tqdm, trange

data = np.ones((64, 4), "float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
optimizer = tf.keras.optimizers.SGD(0.1)
model.compile(optimizer, "mse")
made = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), "saved", max_to_keep=2)
mean = tf.keras.metrics.Mean()
seen, step = 0, 0
for epoch in range(2):
    total = 0.0
    {loop}
        loss = model.train_on_batch(x, x[:, :1])
        {each}
    {behind}
"""
PIPELINE = "for x in tf.data.Dataset.from_tensor_slices(data).batch(8):"
RANGE = "for i in range(8):\n        x = data[i * 8 : i * 8 + 8]"


def batches(loop: str = PIPELINE, each: str = "pass", behind: str = "pass") -> str:
    return rewritten(KERAS.format(loop=loop, each=each, behind=behind))


@pytest.mark.parametrize("loop", [PIPELINE, RANGE])
@pytest.mark.parametrize(
    ("behind", "becomes"),
    [
        ("print(total / 8)", "total = sum_of_ranks(total)"),
        ("print(total / (len(data) // 8))", "total = sum_of_ranks(total)"),
        ("print(total)", "total = sum_of_ranks(total)"),
        ("pass", "    pass"),
    ],
)
def test_losses_of_batches_are_added_up_over_all_ranks(loop: str, behind: str, becomes: str) -> None:
    text = batches(loop, "total += loss", behind)
    assert becomes in text
    assert ("sum_of_ranks" in text) is (behind != "pass")


@pytest.mark.parametrize(("each", "kept"), [("mean.update_state(loss)", True), ("mean(loss)", True), ("pass", False)])
def test_metrics_that_get_losses_of_batches_are_averaged(each: str, kept: bool) -> None:
    assert ("in mean.variables:" in batches(each=each, behind="print(mean.result())")) is kept


@pytest.mark.parametrize(
    ("size", "counts"),
    [("len(x)", True), ("x.shape[0]", True), ("int(tf.shape(x)[0])", True), ("1", False), ("len(data)", False)],
)
def test_samples_that_several_passes_count_are_those_of_all_ranks(size: str, counts: bool) -> None:
    text = batches(each=f"seen += {size}", behind="print(seen)")
    assert (f"seen += {size} * hvd.size()" in text) is counts


def test_samples_that_divide_a_sum_stay_those_of_a_rank() -> None:
    assert "seen += len(x)\n" in batches(each="total += loss\n        seen += len(x)", behind="print(total / seen)")


@pytest.mark.parametrize(
    ("behind", "asked"),
    [
        ("made.save()\n    model.load_weights(made.latest_checkpoint)", True),
        ("made.save()\n    print(made.checkpoints)", False),
        ("pass", False),
    ],
)
def test_rank_zero_says_which_checkpoints_it_has_written(behind: str, asked: bool) -> None:
    assert (".broadcast_object(made.latest_checkpoint)" in batches(behind=behind)) is asked


def test_a_bar_that_counts_the_batches_itself_counts_those_of_a_rank() -> None:
    text = batches("for i in trange(8):\n        x = data[i * 8 : i * 8 + 8]")
    assert "for i in (turn * hvd.size() + hvd.rank() for turn in trange(8 // hvd.size()," in text


def test_a_bar_that_is_told_of_steps_is_told_how_many_a_rank_takes() -> None:
    loop = f"bar = tf.keras.utils.Progbar(len(data) // 8)\n    {PIPELINE}"
    assert "Progbar((len(data) // 8) // hvd.size(), " in batches(loop, "bar.add(1)")


@pytest.mark.parametrize("start", ["app.run(main)", "main()", "app.run(main, [])"])
def test_a_library_may_run_the_program(start: str) -> None:
    text = (
        "import tensorflow as tf\nimport numpy as np\nfrom absl import app\n\n\ndef main(_=None):\n"
        "    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n    model.compile('sgd', 'mse')\n"
        "    saved = tf.keras.callbacks.ModelCheckpoint('best.h5')\n"
        "    model.fit(np.ones((64, 4)), np.ones((64, 1)), callbacks=[saved])\n    model.load_weights('best.h5')\n\n\n"
        f"if __name__ == '__main__':\n    {start}\n"
    )
    assert 'hvd.allreduce(0, name="written")\n    model.load_weights' in rewritten(text)


TAPE = """\
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices(tf.ones((64, 4))).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
step, most = 0, 8
for x in data:
    if step < {0}:
        optimizer.learning_rate = 0.1 * {1}
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    step += 1
"""


def test_what_divides_counts_the_iterations_of_a_rank_with_tapes_too() -> None:
    text = TAPE.replace(
        "for x in data:", "rows = tf.ones((64, 4))\nfor i in range(8):\n    x = rows[i * 8 : i * 8 + 8]"
    )
    text = text.format(4, "0.5") + "print(step / (i + 1))\n"
    found = rewritten(text)
    assert "for (turn, i) in enumerate(range(hvd.rank(), 8 // hvd.size() * hvd.size(), hvd.size())):" in found
    assert "print(step / (turn + 1))" in found


@pytest.mark.parametrize(
    ("limit", "part", "becomes"),
    [
        ("most", "(step + 1) / most", "(step + 1) / (most // hvd.size())"),
        ("5000", "step / 5000", "step / (5000 // hvd.size())"),
        ("20", "step / 7", "step / 7"),
        ("20", "8 / 20", "8 / 20"),
    ],
)
def test_a_rise_ends_where_its_steps_end(limit: str, part: str, becomes: str) -> None:
    assert becomes in rewritten(TAPE.format(limit, part))
