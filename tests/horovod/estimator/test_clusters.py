"""A program that tells TensorFlow of a cluster of its own is distributed already; kinds of a rank's batches are those of all."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import json
import os

import tensorflow as tf


def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
    step = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def input_fn():
    data = tf.data.TFRecordDataset("rows").map(parse).repeat().batch(8)
    {told}
    return data


def begin(cluster):
    {set}


if "CLUSTER" in os.environ:
    begin(json.loads(os.environ["CLUSTER"]))
model = tf.estimator.Estimator(model_fn)
model.train(input_fn, steps=1000)
"""
SET = ("os.environ['TF_CONFIG'] = json.dumps(cluster)", "tf.train.ClusterSpec(cluster)")
KINDS = ("output_types", "output_shapes", "element_spec")


@pytest.mark.parametrize("way", SET)
def test_a_cluster_of_its_own_is_refused(way: str) -> None:
    assert [each.code for each in outcome(PROGRAM.format(told="pass", set=way)).plan.refusals] == ["HVD201"]


@pytest.mark.parametrize(
    "way", ["pass", "os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'", "print(os.environ.get('TF_CONFIG'))"]
)
def test_other_settings_are_not(way: str) -> None:
    assert not outcome(PROGRAM.format(told="pass", set=way)).plan.refusals


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_those_of_all_ranks(kind: str) -> None:
    found = outcome(PROGRAM.format(told=f"print(data.{kind})", set="pass"))
    assert [*found.files]
    assert not found.plan.warnings
