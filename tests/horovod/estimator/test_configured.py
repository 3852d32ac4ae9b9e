"""How an estimator is configured and told to train, by whatever way that comes to it."""

from __future__ import annotations

import pytest
from horovod.tape.test_ranks import rewritten
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
import tensorflow as tf
{imports}


def model_fn(features, labels, mode, params):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
    step = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def specified(input_fn):
    return tf.estimator.TrainSpec(input_fn, max_steps=1000), tf.estimator.EvalSpec(input_fn)


data, labels = np.ones((100, 4), "float32"), np.ones((100, 1), "float32")
input_fn = tf.estimator.inputs.numpy_input_fn(x={{"x": data}}, y=labels, batch_size=10, num_epochs=None, shuffle=True)
{config}
model = tf.estimator.Estimator(model_fn, config=config)
{train}
"""
CONFIGS = {
    "at once": 'config = tf.estimator.RunConfig(model_dir="run")',
    "by position": 'config = tf.estimator.RunConfig("run")',
    "replaced at once": 'config = tf.estimator.RunConfig().replace(model_dir="run")',
    "replaced later": 'config = tf.estimator.RunConfig()\nconfig = config.replace(model_dir="run", save_summary_steps=10)',
    "made before it is replaced": 'config = tf.estimator.RunConfig("run")\nconfig = config.replace(keep_checkpoint_max=2)',
    "replaced twice": 'config = tf.estimator.RunConfig().replace(tf_random_seed=1).replace(model_dir="run")',
    "with a session": 'config = tf.estimator.RunConfig(session_config=tf.ConfigProto()).replace(model_dir="run")',
    "replaced with a session": 'config = tf.estimator.RunConfig("run").replace(session_config=tf.ConfigProto())',
    "in a function": 'def configured(base):\n    return base.replace(model_dir="run")\n\n\n'
    "config = configured(tf.estimator.RunConfig())",
}


@pytest.mark.parametrize("way", CONFIGS)
def test_one_rank_has_the_folder_and_each_its_gpu(way: str) -> None:
    found = rewritten(PROGRAM.format(imports="", config=CONFIGS[way], train="model.train(input_fn, steps=1000)"))
    assert '"run" if hvd.rank() == 0 else None' in found
    assert found.count("session_config=") == 1
    assert found.count("visible_device_list") == 1


def test_checkpoints_come_as_often() -> None:
    config = 'config = tf.estimator.RunConfig().replace(model_dir="run", save_checkpoints_steps=100)'
    found = rewritten(PROGRAM.format(imports="", config=config, train="model.train(input_fn, steps=1000)"))
    assert "save_checkpoints_steps=max(1, 100 // hvd.size())" in found


TRAIN = "tf.estimator.train_and_evaluate(model, {})"
SEEN = {
    "written there": TRAIN.format("tf.estimator.TrainSpec(input_fn, max_steps=1000), tf.estimator.EvalSpec(input_fn)"),
    "taken apart": f"first, second = specified(input_fn)\n{TRAIN.format('first, second')}",
    "by name": f"first, second = specified(input_fn)\n{TRAIN.format('eval_spec=second, train_spec=first')}",
}
UNSEEN = {
    "of another file": (
        "from elsewhere import specs",
        f"first, second = specs(input_fn)\n{TRAIN.format('first, second')}",
    ),
    "of a module": ("import elsewhere", TRAIN.format("elsewhere.TRAIN, elsewhere.EVAL")),
    "read from a file": ("import pickle", f"first = pickle.load(open('s', 'rb'))\n{TRAIN.format('first, first')}"),
}


@pytest.mark.parametrize("way", SEEN)
def test_what_a_training_is_told_is_followed(way: str) -> None:
    found = rewritten(PROGRAM.format(imports="", config=CONFIGS["at once"], train=SEEN[way]))
    assert "max_steps=1000 // hvd.size()" in found
    assert "hvd.BroadcastGlobalVariablesHook(0)" in found


@pytest.mark.parametrize("way", UNSEEN)
def test_a_training_that_is_told_by_what_nobody_sees_is_refused(way: str) -> None:
    """Nothing would send the weights of rank 0 to the others."""
    imports, train = UNSEEN[way]
    found = outcome(PROGRAM.format(imports=imports, config=CONFIGS["at once"], train=train))
    assert [each.code for each in found.plan.refusals] == ["HVD205"]
