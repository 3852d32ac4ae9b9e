"""What a loop of TensorFlow evaluates, saves or tells every so many steps, and where it ends: for as much data as in one process.

A rank takes fewer steps in an epoch. What only tells of the batch at hand, and what trains, is left as it is.
"""

from __future__ import annotations

import pytest
from horovod.tape.test_ranks import rewritten

SESSION = """\
import numpy as np
import tensorflow.compat.v1 as tf

samples = np.ones([64, 4])
held = np.ones([64, 4])
every = 8
x = tf.placeholder(tf.float32, [None, 4])
cost = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
done = tf.train.get_or_create_global_step()
train = tf.train.GradientDescentOptimizer(0.1).minimize(cost, global_step=done)
saver = tf.train.Saver()


def batches():
    for i in range(8):
        yield samples[i * 8 : i * 8 + 8]


def drawn(size):
    return samples[np.random.randint(0, 64, size)]


def judge(sess, data):
    return sess.run(cost, {x: data})


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""
DEALT = "    for a in batches():\n        sess.run(train, {x: a})\n"
COUNTED = "    for i in range(100):\n        a = drawn(8)\n        sess.run(train, {x: a})\n"
TAPE = """\
import numpy as np
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices(np.ones([64, 4], "float32")).batch(8)
held = tf.data.Dataset.from_tensor_slices(np.ones([64, 4], "float32")).batch(8)
every = 8
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
saved = tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(0))
kept = tf.train.CheckpointManager(saved, "kept", 3)


def step(a):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(a) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


def judge():
    return [tf.reduce_mean(model(a)) for a in held]


"""
LOOP = "for i, a in enumerate(data):\n    step(a)\n"
AS_OFTEN = {
    "the count that a step gives": SESSION + "    for a in batches():\n        _, n = sess.run([train, done], {x: a})\n"
    "        if n % every == 0:\n            judge(sess, held)\n",
    "the count that is asked for": SESSION
    + DEALT
    + "        n = tf.train.global_step(sess, done)\n        if n % every == 0:\n            judge(sess, held)\n",
    "the count that another run gives": SESSION
    + DEALT
    + "        if sess.run(done) % every == 0:\n            judge(sess, held)\n",
    "turns of drawn batches": SESSION
    + COUNTED
    + "        if i % 10 == 0:\n            print(sess.run(cost, feed_dict={x: held}))\n",
    "a counter of its own": SESSION
    + "    n = 0\n"
    + DEALT
    + "        n += 1\n        if not n % every:\n            saver.save(sess, 'm', global_step=n)\n",
    "beside what is told": SESSION
    + COUNTED
    + "        if (i + 1) % every == 0:\n            print(sess.run(cost, {x: a}), cost.eval({x: held}))\n",
    "the last of each": SESSION + COUNTED + "        if i % 8 == 7:\n            saver.save(sess, 'm')\n",
    "the last of each, computed": SESSION
    + COUNTED
    + "        if np.mod(i, 8) == 8 - 1:\n            saver.save(sess, 'm')\n",
    "a supervisor": SESSION.rpartition("with tf")[0]
    + "sv = tf.train.Supervisor()\nwith sv.managed_session() as sess:\n    for i in range(100):\n"
    "        sess.run(train, {x: drawn(8)})\n        if i % 10 == 0:\n            sv.saver.save(sess, 'm')\n",
    "hooks": SESSION.rpartition("with tf")[0]
    + "with tf.train.MonitoredTrainingSession(checkpoint_dir='m', save_checkpoint_steps=every) as sess:\n"
    "    for i in range(100):\n        sess.run(train, {x: drawn(8)})\n",
    "batches of a data set": TAPE + LOOP + "    if i % 4 == 0:\n        judge()\n",
    "a checkpoint": TAPE + LOOP + "    if (i + 1) % every == 0:\n        kept.save()\n",
    "weights": TAPE + LOOP + "    if (i + 1) % every == 0:\n        model.save_weights('w')\n",
    "what Keras judges": TAPE + LOOP + "    if i % every == 0 and i > 0:\n        print(model.evaluate(held))\n",
    "a variable": TAPE
    + "for a in data:\n    step(a)\n    saved.step.assign_add(1)\n    if int(saved.step) % 4 == 0:\n        kept.save()\n",
    "what adding gives": TAPE
    + "for a in data:\n    step(a)\n    n = int(saved.step.assign_add(1))\n    if n % 4 == 0:\n        kept.save()\n",
    "the optimizer's count": TAPE
    + "for a in data:\n    step(a)\n    if optimizer.iterations % 4 == 0:\n        kept.save()\n",
    "its number": TAPE
    + "for a in data:\n    step(a)\n    n = optimizer.iterations.numpy()\n    if n % 4 == 0:\n        judge()\n",
    "a count of all epochs": TAPE
    + "n = 0\nfor epoch in range(2):\n    for a in data:\n        step(a)\n        n += 1\n"
    "        if n % every == 0:\n            judge()\n",
    "a function that asks": TAPE
    + "def due(n, often):\n    return n % often == 0\n\n\n"
    + LOOP
    + "    if due(i, every):\n        judge()\n",
    "a function that asks, by name": TAPE
    + "def due(n, often):\n    return often > 0 and (n + 1) % often == 0\n\n\n"
    + LOOP
    + "    if due(n=i, often=every):\n        kept.save()\n",
    "a function within": TAPE
    + "for i, a in enumerate(data):\n    def due(often):\n        return often > 0 and (i + 1) % often == 0\n\n"
    "    step(a)\n    if due(every):\n        judge()\n",
    "a lambda": TAPE + "due = lambda n, often: n % often == 0\n" + LOOP + "    if due(i, every):\n        judge()\n",
    "a function of a session": SESSION
    + "    for i in range(100):\n        def due(often):\n            return often > 0 and (i + 1) % often == 0\n\n"
    "        a = drawn(8)\n        sess.run(train, {x: a})\n        if due(every):\n            saver.save(sess, 'm')\n",
    "a function that does it": SESSION
    + "    def each(often, n, then):\n        if (n + 1) % often == 0:\n            then()\n\n    def save():\n"
    "        saver.save(sess, 'm')\n\n" + COUNTED + "        each(every, i, save)\n",
    "a function that does it, by name": SESSION
    + "    def each(n, then, often):\n        if n % often == 0:\n            then()\n\n"
    + COUNTED
    + "        each(then=lambda: judge(sess, held), n=i, often=10)\n",
    "a function that saves": TAPE
    + "def save(n, often):\n    if n and n % often == 0:\n        kept.save()\n\n\n"
    + LOOP
    + "    save(i, 4)\n",
    "a method that saves": TAPE
    + "class Keeper:\n    def after(self, n, often=8):\n        if not n % often:\n            kept.save()\n\n\n"
    + "keeper = Keeper()\n"
    + LOOP
    + "    keeper.after(i, often=every)\n",
    "turns of next": TAPE + "source = iter(data.repeat())\nfor i in range(100):\n    step(next(source))\n"
    "    if i % every == 0:\n        judge()\n",
}
COUNTER = "for a in data.repeat():\n    step(a)\n    {count}\n    if {test}:\n        break\n"
SOONER = {
    "a counter": TAPE + "n = 0\n" + COUNTER.format(count="n += 1", test="n >= 64"),
    "a variable": TAPE + COUNTER.format(count="saved.step.assign_add(1)", test="int(saved.step) >= 64"),
    "its number": TAPE + COUNTER.format(count="n = saved.step.assign_add(1).numpy()", test="n == 64"),
    "the optimizer's count": TAPE + COUNTER.format(count="n = int(optimizer.iterations)", test="64 <= n"),
    "turns": TAPE + "for n, a in enumerate(data.repeat(), 1):\n    step(a)\n    if n == 64:\n        break\n",
    "over epochs": TAPE + "n = 0\nfor epoch in range(99):\n    for a in data:\n        step(a)\n        n += 1\n"
    "        if n >= 64:\n            break\n    if n >= 64:\n        break\n",
}
TOLD = {
    "printed": "print(mean.result().numpy())",
    "a format": "print(f'{mean.result():.3f}')",
    "written": "with writer.as_default():\n            tf.summary.scalar('loss', mean.result(), step=i)",
    "kept": "kept = float(mean.result())",
    "begun anew": "print(i, float(mean.result())); mean.reset_states()",
}
METRIC = "mean = tf.keras.metrics.Mean()\nwriter = tf.summary.create_file_writer('w')\n"
LEFT = {
    "told of the batch": SESSION + COUNTED + "        if i % 10 == 0:\n            print(sess.run(cost, {x: a}))\n",
    "told by a function": SESSION + COUNTED + "        if i % 10 == 0:\n            print(judge(sess, a))\n",
    "epochs": SESSION + "    for epoch in range(9):\n        for a in batches():\n            sess.run(train, {x: a})\n"
    "        if epoch % 3 == 0:\n            saver.save(sess, 'm')\n",
    "what trains": SESSION
    + DEALT.replace("sess.run", "i = 1; sess.run")
    + "        if i % 4 == 0:\n            sess.run(train, {x: a}); saver.save(sess, 'm')\n",
    "told of a tape": TAPE + LOOP + "    if i % 4 == 0:\n        print(i)\n",
    "told by a function now and then": TAPE
    + "def tell(n, often):\n    if n % often == 0:\n        print(n)\n\n\n"
    + LOOP
    + "    tell(i, 4)\n",
    "epochs of a tape": TAPE
    + "for epoch in range(9):\n    for a in data:\n        step(a)\n    if epoch % 4 == 0:\n        kept.save()\n",
}


@pytest.mark.parametrize("name", AS_OFTEN)
def test_it_comes_as_often(name: str) -> None:
    assert "max(1, " in rewritten(AS_OFTEN[name])


@pytest.mark.parametrize("test", ["i % 100 == 99", "i % 100 == 100 - 1", "99 + 0 == 0 or np.mod(i, 100) == 100 - 1"])
def test_the_last_of_an_interval_is_its_last(test: str) -> None:
    found = rewritten(SESSION + COUNTED + f"        if {test}:\n            saver.save(sess, 'm')\n")
    assert "== max(1, 100 // hvd.size()) - 1" in found


@pytest.mark.parametrize("name", SOONER)
def test_ranks_together_take_as_many_steps(name: str) -> None:
    found = rewritten(SOONER[name])
    assert found.count("64 // hvd.size()") == SOONER[name].count("= 64") + SOONER[name].count("64 <")
    assert "allgather" not in found


RATE = "rate = tf.Variable(0.1, trainable=False)\nslower = tf.assign(rate, rate * 0.5)\ncost = "
BY_A_VARIABLE = SESSION.replace("GradientDescentOptimizer(0.1)", "GradientDescentOptimizer(rate)").replace(
    "cost = ", RATE
)
FED = SESSION.replace("GradientDescentOptimizer(0.1)", "GradientDescentOptimizer(r)").replace(
    "cost = ", "r = tf.placeholder(tf.float32)\ncost = "
)
LOOPS = {
    "an operation": BY_A_VARIABLE + COUNTED + "        if {test}:\n            sess.run(slower)\n",
    "operations": BY_A_VARIABLE + COUNTED + "        if {test}:\n            sess.run([slower])\n",
    "what is fed": FED.replace("    sess.run(", "    lr = 0.1\n    sess.run(")
    + COUNTED.replace("{x: a}", "{{x: a, r: lr}}")
    + "        if {test}:\n            lr = lr * 0.1\n",
    "a checkpoint of a session": SESSION + COUNTED + "        if {test}:\n            saver.save(sess, 'm')\n",
    "a rate of Keras": TAPE + LOOP + "    if {test}:\n        optimizer.learning_rate.assign(0.01)\n",
    "a rate of Keras, by assignment": TAPE + LOOP + "    if {test}:\n        optimizer.lr = optimizer.lr * 0.1\n",
    "a checkpoint of a tape": TAPE + LOOP + "    if {test}:\n        kept.save()\n",
    "another step": TAPE
    + LOOP.replace("    step(a)\n", "    if {test}:\n        step(a)\n    else:\n        judge()\n"),
}
LISTED = "in [(each + hvd.size() - 1) // hvd.size() for each in {}]"
TESTS = {
    "i == 40": "i == 40 // hvd.size()",
    "i > 40": "i > 40 // hvd.size()",
    "40 <= i": "40 // hvd.size() <= i",
    "i + 1 == 40": "i + 1 == 40 // hvd.size()",
    "i in [40, 80]": f"i {LISTED.format('[40, 80]')}",
    "i + 1 in (1e2, 5e3)": f"i + 1 {LISTED.format('(1e2, 5e3)')}",
    "i % 40 == 0": "i % max(1, 40 // hvd.size()) == 0",
    "i > 5 and i % 40 == 39": "i > max(1, 5 // hvd.size()) and i % max(1, 40 // hvd.size()) == max(1, 40 // hvd.size()) - 1",
}
STAYING = ("i > 0", "i == 0", "i != 1", "samples is not None")


def asked(loop: str, test: str) -> str:
    return LOOPS[loop].replace("{{", "{").replace("}}", "}").replace("{test}", test)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("test", TESTS)
def test_what_changes_at_a_step_changes_after_as_much_data(test: str, loop: str) -> None:
    """Rates that the loop sets, checkpoints and other kinds of steps; how often another kind of step is taken stays."""
    stays = loop == "another step" and "%" in test
    assert f"if {test if stays else TESTS[test]}:" in rewritten(asked(loop, test)) or (stays and "i > 5" in test)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("test", STAYING)
def test_the_first_step_stays_the_first(test: str, loop: str) -> None:
    assert f"if {test}:" in rewritten(asked(loop, test))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    "text",
    [SESSION + COUNTED + "        if {}:\n            print(i)\n", TAPE + LOOP + "    if {}:\n        print(i)\n"],
)
def test_what_is_only_told_at_a_step_stays(test: str, text: str) -> None:
    assert f"if {test}:" in rewritten(text.replace("{}", test))


@pytest.mark.parametrize("name", TOLD)
def test_a_metric_that_is_told_in_between_is_of_all_ranks(name: str) -> None:
    loop = f"for i, a in enumerate(data):\n    mean(step(a))\n    if i % 4 == 0:\n        {TOLD[name]}\n"
    branch = "    if i % 4 == 0:\n        for variable in mean.variables:\n            variable.assign(hvd.allreduce(variable))\n"
    assert branch in rewritten(TAPE + METRIC + loop)


def test_a_metric_that_a_turn_makes_is_of_all_data_already() -> None:
    judged = "        other = tf.keras.metrics.Mean()\n"
    judged += "        for b in held:\n            other(model(b))\n        print(other.result())\n"
    assert "other.variables" not in rewritten(TAPE + LOOP + "    if i % 4 == 0:\n" + judged)


@pytest.mark.parametrize("name", LEFT)
def test_what_trains_or_tells_and_what_counts_epochs_stays(name: str) -> None:
    assert "max(1, " not in rewritten(LEFT[name])
