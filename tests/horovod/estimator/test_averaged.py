"""An estimator is rewritten only where the gradients of its model are averaged."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf
from elsewhere import made, optimizers

adam = tf.train.AdamOptimizer


class Model:
    def __init__(self, features, labels, step):
        self.loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
        self.step = step.minimize(self.loss, tf.train.get_global_step())


def trained(loss, step):
    return step.minimize(loss, global_step=tf.train.get_global_step())


def seen(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=trained(loss, adam(0.1)))


def model_fn(features, labels, mode, params):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
    {step}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


class Own(tf.estimator.Estimator):
    def __init__(self, config=None):
        super().__init__(model_fn=model_fn, config=config)


data = np.ones((100, 4), "float32")
input_fn = tf.estimator.inputs.numpy_input_fn(x={{"x": data}}, y=data[:, 0], batch_size=10, num_epochs=None, shuffle=True)
{model}
{train}
"""
STEPS = {
    "in the model": "step = adam(0.1).minimize(loss, tf.train.get_global_step())",
    "in a function": "step = trained(loss, adam(0.1))",
    "in a nested function": "optimizer = adam(0.1)\n    def made():\n        return optimizer.minimize(loss)\n    step = made()",
    "handed to a head": "def update(loss):\n        return adam(0.1).minimize(loss)\n"
    "    return head.create_estimator_spec(features, mode, loss, train_op_fn=update)",
    "in a lambda": "step = (lambda loss: adam(0.1).minimize(loss))(loss)",
    "in a class": "step = Model(features, labels, adam(0.1)).step",
}
UNSEEN = {
    "of another module": "step = optimizers.get(params['optimizer']).minimize(loss)",
    "in another module": "step = made(loss)",
    "given": "step = params['step'](loss)",
}
MODEL = "model = tf.estimator.Estimator(model_fn, params={})"
TRAIN = "model.train(input_fn, steps=100)"
SPECS = "tf.estimator.TrainSpec(input_fn, max_steps=100), tf.estimator.EvalSpec(input_fn)"
TOGETHER = f"tf.estimator.train_and_evaluate(model, {SPECS})"
TWO = "for each in (tf.estimator.Estimator(seen), model):\n    each.train(input_fn, steps=100)"


def refused(step: str, model: str = MODEL, train: str = TRAIN) -> list[str]:
    found = outcome(PROGRAM.format(step=step, model=model, train=train))
    changed, codes = [*found.files], [each.code for each in found.plan.refusals]
    assert bool(changed) != bool(codes)
    return codes


@pytest.mark.parametrize("train", [TRAIN, TOGETHER, TWO])
@pytest.mark.parametrize("way", STEPS)
def test_an_update_that_is_seen(way: str, train: str) -> None:
    assert not refused(STEPS[way], train=train)


@pytest.mark.parametrize("train", [TRAIN, TOGETHER, TWO])
@pytest.mark.parametrize("way", UNSEEN)
def test_one_that_is_not(way: str, train: str) -> None:
    assert set(refused(UNSEEN[way], train=train)) == {"HVD205"}


@pytest.mark.parametrize("model", ["from elsewhere import model", "model = made()", "model = Own()"])
def test_an_estimator_that_is_not_seen(model: str) -> None:
    for step in (*STEPS.values(), *UNSEEN.values()):
        assert refused(step, model, TOGETHER) == ["HVD205"]
