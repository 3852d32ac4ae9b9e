"""Planning takes as long as a program is, whatever its flow: not as long as its loops times its lines.

What is counted are calls of Python functions, which are the same on every machine.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

from distml.rewrites.horovod.flows import flows
from distml.rewrites.horovod.rewrite import rewrite_text

HEADS = {
    "torch": "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
    "data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))\n",
    "fit": "import numpy as np\nimport tensorflow as tf\nx, y = np.random.rand(64, 4), np.random.rand(64, 1)\n",
    "tape": "import numpy as np\nimport tensorflow as tf\nx, y = np.random.rand(64, 4), np.random.rand(64, 1)\n",
    "session": "import numpy as np\nimport tensorflow.compat.v1 as tf\ndata = np.random.rand(64, 4)\n",
}
LOOPS = {
    "torch": """
def train_N():
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(data, batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(loss.item())

train_N()
""",
    "fit": """
model_N = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model_N.compile(optimizer="adam", loss="mse")
model_N.fit(x, y, epochs=3, batch_size=8)
model_N.save("model_N.h5")
""",
    "tape": """
def train_N():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.01)
    for a, b in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(a) - b) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(loss.numpy())

train_N()
""",
    "session": """
def train_N():
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.layers.dense(x, 1) ** 2)
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(8):
            _, value = sess.run([train, loss], feed_dict={x: data[step * 8 : (step + 1) * 8]})
            print(step, value)

train_N()
""",
}


def calls_of_planning(path: Path, flow: str, loops: int) -> int:
    """How many functions are called until a program with so many loops is planned."""
    path.write_text(HEADS[flow] + "".join(LOOPS[flow].replace("_N", f"_{number}") for number in range(loops)))
    count = 0

    def counting(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        outcome = rewrite_text(str(path))
    finally:
        sys.setprofile(before)
    assert len(outcome.plan.loops) == loops
    assert not outcome.plan.refusals
    return count


@pytest.mark.parametrize("flow", sorted(LOOPS))
def test_four_times_the_loops_are_four_times_the_work(flow: str, tmp_path: Path) -> None:
    flows()
    few, many = (calls_of_planning(tmp_path / "train.py", flow, loops) for loops in (5, 20))
    assert many < 6 * few
