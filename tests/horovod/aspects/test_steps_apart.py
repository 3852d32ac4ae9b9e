"""Steps that a rank would take alone, since its number or its batch says so: all take them, or the program is refused."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

KERAS = """
first, second = (tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(4,))]) for _ in range(2))
first.compile(optimizer="adam", loss="mse")
second.compile(optimizer="adam", loss="mse")


def one(a):
    first.train_on_batch(a, a)


def other(a):
    second.train_on_batch(a, a)
"""
TAPE = """
first, second = (tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(4,))]) for _ in range(2))
optimizer, last = tf.keras.optimizers.Adam(0.1), tf.keras.optimizers.Adam(0.1)


def one(a):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(first(a) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, first.trainable_variables), first.trainable_variables))


def other(a):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(second(a) ** 2)
    last.apply_gradients(zip(tape.gradient(loss, second.trainable_variables), second.trainable_variables))
"""
SESSION = """
v1 = tf.compat.v1
p = v1.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(v1.layers.dense(p, 1) ** 2)
first, second = v1.train.AdamOptimizer(0.1).minimize(loss), v1.train.AdamOptimizer(0.2).minimize(loss)
session = v1.Session()
session.run(v1.global_variables_initializer())


def one(a):
    session.run(first, {p: a})


def other(a):
    session.run(second, {p: a})
"""
FLOWS = {"keras": KERAS, "tape": TAPE, "session": SESSION}
PROGRAM = """\
import numpy as np
import tensorflow as tf

x = np.load("x.npy")
{flow}

every = 5
for step in range(2001):
    i = step % 8
    a = x[i * 8 : (i + 1) * 8]
    {one}
    if step > 1600:
        every = 10
    if {test}:
        {other}
"""
APART = ["i % every == 0", "i == 3", "i < 4", "a.max() > 3", "np.isfinite(a).all()"]
ALIKE = [(flow, test) for flow in FLOWS for test in ("x.shape[0] > 3", "len(a) == 8")]
ALIKE.remove(("session", "len(a) == 8"))  # batches are dealt out there, and the short one is that of one rank


def rewritten(flow: str, test: str, called: bool):  # type: ignore[no-untyped-def]
    text = FLOWS[flow]
    if called:
        return outcome(PROGRAM.format(flow=text, one="one(a)", test=test, other="other(a)"))
    bodies = [part.partition(":\n")[2].strip("\n") for part in text.split("\n\n\ndef ")[1:]]
    one, other = (body.replace("\n", f"\n{indent}") for body, indent in zip(bodies, ("", "    "), strict=True))
    return outcome(
        PROGRAM.format(flow=text.partition("\n\n\ndef ")[0], one=one.strip(), test=test, other=other.strip())
    )


@pytest.mark.parametrize("test", APART)
@pytest.mark.parametrize("called", [True, False])
@pytest.mark.parametrize("flow", FLOWS)
def test_no_rank_takes_a_step_alone(flow: str, called: bool, test: str) -> None:
    result = rewritten(flow, test, called)
    source = "".join(each.source for each in result.files.values())
    agreed = any(f"{kind}_of_ranks(" in source.split(f"bool({test})")[0][-60:] for kind in ("parts", "any", "all"))
    undivided = any(each.code == "HVD302" for each in result.plan.warnings)
    assert any(each.code == "HVD215" for each in result.plan.refusals) or agreed or undivided, source


@pytest.mark.parametrize(("flow", "test"), ALIKE)
def test_what_is_alike_on_all_ranks_stays(flow: str, test: str) -> None:
    result = rewritten(flow, test, False)
    assert not result.plan.refusals
    (file,) = result.files.values()
    assert f"if {test}:" in file.source


def test_a_step_by_the_size_of_a_batch_is_agreed_on_where_batches_are_dealt_out() -> None:
    (file,) = rewritten("session", "len(a) == 8", False).files.values()
    assert "(parts_of_ranks(bool(len(a) == 8)))" in file.source


def test_a_number_of_steps_that_changes_how_often_steps_are_taken_is_divided() -> None:
    (file,) = rewritten("session", "step % every == 0", False).files.values()
    assert "if step > 1600 // hvd.size():" in file.source
