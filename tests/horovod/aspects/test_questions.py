"""What a person is asked, rank 0 asks in all programs of TensorFlow; where not all ranks come to a question, it is named."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

TAPE = """\
import numpy as np
import tensorflow as tf

{asked}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for epoch in range(3):
    for x in tf.data.Dataset.from_tensor_slices(np.ones([64, 4], "float32")).batch(8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
FIT = """\
import numpy as np
import tensorflow as tf

{asked}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones([64, 4]), np.ones([64, 1]))
"""
SESSION = """\
import numpy as np
import tensorflow as tf

{asked}
x = tf.placeholder(tf.float32, [None, 4])
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.layers.dense(x, 1)))
data = np.ones([64, 4])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        session.run(train, {{x: data[i * 8 : (i + 1) * 8]}})
"""
PROGRAMS = {"tape": TAPE, "fit": FIT, "session": SESSION}
FIRST = {
    "tape": "hvd.broadcast_object({} if hvd.rank() == 0 else None)",
    "fit": "horovod.tensorflow.broadcast_object({} if hvd.rank() == 0 else None)",
    "session": "parts_of_ranks({} if hvd.rank() == 0 else None)[0]",
}
ASKED = {
    "a value": "found = input('epochs: ')",
    "a number": "found = int(input('epochs: '))",
    "in a condition": "if input('go on? ') == 'y':\n    found = 1",
    "in a function": "def ask(text):\n    return input(text)\n\n\nfound = ask('name: ')",
    "in an attempt": "try:\n    found = int(input('epochs: '))\nexcept ValueError:\n    found = 1",
}
APART = {
    "in a handler": "try:\n    found = open('name').read()\nexcept OSError:\n    found = input('name: ')",
    "behind chance": "found = 1\nif np.random.rand() > 0.5:\n    found = input('name: ')",
}


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("way", ASKED)
def test_rank_zero_alone_asks(way: str, kind: str) -> None:
    found = outcome(PROGRAMS[kind].format(asked=ASKED[way]))
    (file,) = found.files.values()
    asked = next(f"input({each})" for each in ("'epochs: '", "'go on? '", "text") if f"input({each})" in ASKED[way])
    assert FIRST[kind].format(asked) in file.source
    assert not found.plan.warnings and not found.plan.refusals


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("way", APART)
def test_a_question_that_one_rank_may_come_to_alone_is_named(way: str, kind: str) -> None:
    found = outcome(PROGRAMS[kind].format(asked=APART[way]))
    (file,) = found.files.values()
    assert [each.code for each in found.plan.warnings] == ["HVD306"] and "input('name: ')" in file.source
    assert FIRST[kind].format("input('name: ')") not in file.source
