"""Rates and numbers of steps follow the data: scaled exactly if a step of all ranks uses more of it than one did."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

KERAS = """\
import numpy as np
import tensorflow as tf
{0}
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(optimizer=tf.keras.optimizers.SGD(0.125), loss="mse")
model.fit({1})
"""
TAPE = """\
import numpy as np
import tensorflow as tf
{0}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.125)
for epoch in range(100):
    for x, y in {1}:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
SESSION = """\
import numpy as np
import tensorflow.compat.v1 as tf
{0}
x, y = {1}.make_one_shot_iterator().get_next()
loss = tf.reduce_mean((tf.layers.dense(x, 1) - y) ** 2)
step = tf.train.GradientDescentOptimizer(0.125).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for turn in range(640):
        session.run(step)
"""
ESTIMATOR = """\
import numpy as np
import tensorflow.compat.v1 as tf
{0}

def model(features, labels, mode):
    loss = tf.reduce_mean((tf.layers.dense(features, 1) - labels) ** 2)
    step = tf.train.GradientDescentOptimizer(0.125).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def read(names):
    return {1}


tf.estimator.Estimator(model).train(lambda: read("train"), steps=640)
tf.estimator.Estimator(model).evaluate(lambda: read("test"))
"""
ARRAYS = "a, b = np.ones((64, 4)), np.ones((64, 1))"
UNKNOWN = "from lib import data"
SLICES = "tf.data.Dataset.from_tensor_slices((a, b)).batch(8)"
WHOLE = "tf.data.Dataset.from_tensors((a, b))"
PROGRAMS = {
    "fit, arrays": (KERAS, ARRAYS, "a, b", True),
    "fit, a pipeline": (KERAS, ARRAYS, SLICES, True),
    "fit, a pipeline of one element": (KERAS, ARRAYS, WHOLE, False),
    "fit, one element that is drawn anew": (KERAS, ARRAYS, f"{WHOLE}.repeat().map(draw), steps_per_epoch=640", True),
    "fit, something that gives batches": (KERAS, UNKNOWN, "data(), steps_per_epoch=640", True),
    "fit, something": (KERAS, UNKNOWN, "data()", False),
    "fit, arguments": (KERAS, UNKNOWN, "**data()", False),
    "tape, a pipeline": (TAPE, ARRAYS, SLICES, True),
    "tape, a pipeline of one element": (TAPE, ARRAYS, f"{WHOLE}.cache()", False),
    "session, a pipeline": (SESSION, ARRAYS, f"{SLICES}.repeat()", True),
    "session, a pipeline of one element": (SESSION, ARRAYS, f"{WHOLE}.repeat()", False),
    "estimator, a pipeline": (ESTIMATOR, ARRAYS, f"{SLICES}.repeat()", True),
    "estimator, a pipeline of one element": (ESTIMATOR, ARRAYS, f"{WHOLE}.repeat()", False),
    "estimator, tensors that evaluation reads too": (
        *(ESTIMATOR, "", "tf.data.TextLineDataset(names).map(len).batch(8).make_one_shot_iterator().get_next()", False),
    ),
    "estimator, something": (ESTIMATOR, UNKNOWN, "data(names)", False),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_rates_and_steps_follow_the_data(name: str) -> None:
    form, head, given, larger = PROGRAMS[name]
    result = outcome(form.format(head, given))
    (file,) = result.files.values()
    assert ("0.125 * hvd.size()" in file.source) is larger
    assert ("0.125)" in file.source) is not larger
    assert "640" not in file.source or ("640 // hvd.size()" in file.source) is larger
    assert larger or any(each.code == "HVD302" for each in result.plan.warnings)
