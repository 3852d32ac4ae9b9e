"""A step that the program makes and that no run is seen to take is named, with what may take it; evaluation is left alone."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import functools

import numpy as np
import tensorflow as tf
from nowhere import Runner, load

x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
op = tf.train.AdamOptimizer(0.001).minimize(loss, name="train")
tf.add_to_collection("steps", op)
data = np.ones((640, 3))
session = tf.Session()
session.run(tf.global_variables_initializer())
{before}
for i in range(0, 640, 4):
    {turn}
"""
FEED = "{x: data[i : i + 4]}"
HIDDEN = {
    "a text": ("", f"session.run('train', {FEED})"),
    "by its name": ("", f"session.run(tf.get_default_graph().get_operation_by_name('train'), {FEED})"),
    "by its name, before": ("step = session.graph.get_operation_by_name('train')", f"session.run(step, {FEED})"),
    "beside what is read": (
        "step = session.graph.get_tensor_by_name('train:0')",
        f"_, value = session.run([step, loss], {FEED})\n    print(value)",
    ),
    "by a collection": ("", f"session.run(tf.get_collection(tf.GraphKeys.TRAIN_OP)[0], {FEED})"),
    "by a computed name": ("kept = Runner()\nsetattr(kept, load(), op)", f"session.run(getattr(kept, load()), {FEED})"),
    "among all names": ("", f"session.run(globals()[load()], {FEED})"),
    "from code out of sight": ("", f"session.run(load('op'), {FEED})"),
    "spread": ("given = (op, {x: data[:4]})", "session.run(*given)"),
    "the method by a name": ("run = session.run", f"run(op, {FEED})"),
    "the method handed on": ("step = functools.partial(session.run, op)", f"step({FEED})"),
    "made a function": ("step = session.make_callable(op, [x])", "step(data[i : i + 4])"),
    "given to code out of sight": ("runner = Runner(session)", "runner.step(op, data[i : i + 4])"),
}
SEEN = {
    "itself": ("", f"session.run(op, {FEED})"),
    "by a collection of its own": ("", f"session.run(tf.get_collection('steps')[0], {FEED})"),
    "in a function": ("step = lambda batch: session.run(op, {x: batch})", "step(data[i : i + 4])"),
}
ALONE = {
    "the loss": ("", f"session.run(loss, {FEED})"),
    "a metric": ("mean, update = tf.metrics.mean(loss)", f"session.run(update, {FEED})"),
    "a variable": ("held = tf.Variable(1.0)\nset_held = held.assign(2.0)", "session.run(set_held)"),
    "summaries": ("told = tf.summary.merge_all()", f"session.run(told, {FEED})"),
    "what is read of code out of sight": ("net = load()", f"print(session.run(net.out, {FEED}))"),
    "what prepares data out of sight": ("data = load()", "session.run(data.initializer)"),
    "a step that is shown": ("print(op)", f"session.run(loss, {FEED})"),
    "a tensor by its name": ("out = session.graph.get_tensor_by_name('out:0')", f"print(session.run(out, {FEED}))"),
}


def found(way: tuple[str, str]) -> tuple[int, list[str]]:
    plan = outcome(PROGRAM.replace("{before}", way[0]).replace("{turn}", way[1])).plan
    return len(plan.loops), [each.code for each in plan.refusals]


@pytest.mark.parametrize("way", HIDDEN)
def test_a_step_that_no_run_is_seen_to_take_is_named(way: str) -> None:
    assert found(HIDDEN[way]) == (1, ["HVD205"])


@pytest.mark.parametrize("way", SEEN)
def test_a_step_that_a_run_takes_is_found(way: str) -> None:
    assert found(SEEN[way]) == (1, [])


@pytest.mark.parametrize("way", ALONE)
def test_what_only_evaluates_is_left_alone(way: str) -> None:
    assert found(ALONE[way]) == (0, [])
