"""Rates are scaled by what their owner is, whatever it is called."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from horovod.torch.programs import outcome

OWNERS = {
    "argparse": "import argparse\n{0} = argparse.ArgumentParser().parse_args()\n",
    "a namespace": "from types import SimpleNamespace\n{0} = SimpleNamespace(lr=0.1, optimizer=SimpleNamespace(lr=0.1))\n",
    "a class": "class Config:\n    lr = 0.1\n\n\n{0} = Config()\n",
    "elsewhere": "from settings import {0}\n",
}
STEPS = {
    "tensorflow": """\
import tensorflow as tf

{0}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
stepped = tf.keras.optimizers.SGD({1})
for x, y in tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    stepped.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
""",
    "torch": """\
import torch
from torch.utils.data import DataLoader, TensorDataset

{0}
model = torch.nn.Linear(4, 1)
stepped = torch.optim.SGD(model.parameters(), lr={1})
for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
    stepped.zero_grad()
    (model(x) - y).square().mean().backward()
    stepped.step()
""",
}


@pytest.mark.parametrize("framework", STEPS)
@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", ["opts", "optimizer", "cfg", "a"])
@pytest.mark.parametrize("path", ["{0}.lr", "{0}.optimizer.lr"])
def test_a_rate_from_a_configuration_is_scaled(framework: str, owner: str, name: str, path: str) -> None:
    rate = path.format(name)
    (file,) = outcome(STEPS[framework].format(OWNERS[owner].format(name), rate)).files.values()
    assert f"{rate} * hvd.size()" in file.source


RELATIVE = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
{0} = tf.keras.optimizers.SGD(0.1)
for x, y in tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    {0}.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    {0}.learning_rate = {0}.learning_rate * 0.9
"""


@pytest.mark.parametrize("name", ["optimizer", "opt", "stepped", "cfg"])
def test_a_rate_from_the_present_one_stays(name: str) -> None:
    (file,) = outcome(RELATIVE.format(name)).files.values()
    assert f"{name}.learning_rate = {name}.learning_rate * 0.9\n" in file.source
    assert "SGD(0.1 * hvd.size())" in file.source


GIVEN = """\
import tensorflow as tf
from tensorflow.keras.optimizers.schedules import ExponentialDecay


class Trainer:
    def __init__(self, rate):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.SGD(rate)

    def train(self, data):
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.model(x) - y) ** 2)
            grads = tape.gradient(loss, self.model.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))


class Falling(Trainer):
    def __init__(self, rate=ExponentialDecay(0.1, 100, 0.9)):
        super().__init__(rate)


class Steady(Trainer):
    def __init__(self, rate={rate}):
        super().__init__(rate)


for trainer in (Falling(), Steady()):
    trainer.train(tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8))
"""


def test_a_rate_that_one_class_gives_as_a_schedule_and_another_as_a_number_is_scaled_in_both() -> None:
    kind = "tf.keras.optimizers.schedules.LearningRateSchedule"
    (file,) = outcome(GIVEN.format(rate="0.01")).files.values()
    assert f"SGD((rate if isinstance(rate, {kind}) else rate * hvd.size()))" in file.source
    (file,) = outcome(GIVEN.format(rate="ExponentialDecay(0.2, 50, 0.9)")).files.values()
    assert "SGD(rate)" in file.source and "ExponentialDecay(0.2 * hvd.size(), 50 // hvd.size(), 0.9)" in file.source


KEPT = """\
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.SGD(0.1)

    def train(self, data):
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.model(x) - y) ** 2)
            grads = tape.gradient(loss, self.model.trainable_variables)
            {read}
            self.optimizer.learning_rate = {other}
            self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
            {back}


Trainer().train(tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8))
"""
READ = {
    "kept = self.optimizer.learning_rate": "kept",
    "self.kept = self.optimizer.lr": "self.kept",
    "kept = self.optimizer.learning_rate.numpy()": "kept",
    "kept = float(self.optimizer.learning_rate)": "kept",
    "kept = tf.keras.backend.get_value(self.optimizer.lr)": "kept",
    "self.kept = self.optimizer.lr.numpy()": "self.kept",
    "kept, rest = float(self.optimizer.lr), 1": "kept",
    "first = self.optimizer.lr.numpy(); kept = first * 1.0": "kept",
}
BACK = ["self.optimizer.learning_rate = {0}", "self.optimizer.learning_rate.assign({0})"]


@pytest.mark.parametrize("back", BACK)
@pytest.mark.parametrize("read", READ)
def test_a_rate_that_was_kept_is_put_back_as_it_was(read: str, back: str) -> None:
    kept = READ[read]
    for other, scaled in (("0.01", "0.01 * hvd.size()"), (f"{kept} / 2", f"{kept} / 2")):
        found = outcome(KEPT.format(read=read, other=other, back=back.format(kept)))
        (file,) = found.files.values()
        assert f"self.optimizer.learning_rate = {scaled}\n" in file.source
        assert f"{back.format(kept)}\n" in file.source and not found.plan.warnings


@pytest.mark.parametrize("name", ["lr", "rate", "current", "x"])
def test_a_rate_that_a_schedule_is_given_stays(name: str) -> None:
    program = f"""\
import tensorflow as tf


def halved(epoch, {name}):
    return {name} * 0.5


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(0.1), "mse")
model.fit(tf.ones([64, 4]), tf.ones([64, 1]), epochs=3, callbacks=[tf.keras.callbacks.LearningRateScheduler(halved)])
"""
    (file,) = outcome(program).files.values()
    assert f"return {name} * 0.5\n" in file.source


VARIABLE = """\
import tensorflow as tf
from tensorflow.keras import backend as K

{made}
saved = tf.train.Checkpoint(count=tf.Variable(1), rate=a)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
stepped = tf.keras.optimizers.SGD({given})
for x, y in tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    stepped.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    {set}
"""
MADE = {
    "of TensorFlow": (
        "a = tf.Variable(0.1, trainable=False)",
        "a",
        "a = tf.Variable(0.1 * hvd.size(), trainable=False)",
    ),
    "by name": (
        "a = tf.Variable(initial_value=0.1)",
        "learning_rate=a",
        "a = tf.Variable(initial_value=0.1 * hvd.size())",
    ),
    "of the backend": ("a = K.variable(0.1)", "a", "a = K.variable(0.1 * hvd.size())"),
    "an attribute": (
        "class Kept:\n    pass\n\n\nkept = Kept()\nkept.a = tf.Variable(0.1)\na = kept.a",
        "kept.a",
        "kept.a = tf.Variable(0.1 * hvd.size())",
    ),
}
SET = {
    "pass": "pass",
    "a.assign(a * 0.5)": "a.assign(a * 0.5)",
    "a.assign(max(1e-6, a.numpy() * 0.5))": "a.assign(max(1e-6, a.numpy() * 0.5))",
    "a.assign(0.01)": "a.assign(0.01 * hvd.size())",
    "a.assign_sub(0.01)": "a.assign_sub(0.01 * hvd.size())",
    "K.set_value(a, 0.01)": "K.set_value(a, 0.01 * hvd.size())",
    "K.set_value(a, K.get_value(a) / 2)": "K.set_value(a, K.get_value(a) / 2)",
    "saved.count.assign_add(1)": "saved.count.assign_add(1)",
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("later", SET)
def test_a_rate_that_is_a_variable_stays_one(made: str, later: str) -> None:
    """A product with it would be a number of that moment: what it is set to later would never reach the optimizer."""
    text, given, becomes = MADE[made]
    (file,) = outcome(VARIABLE.format(made=text, given=given, set=later)).files.values()
    assert f"\n{becomes}\n" in file.source
    assert f"SGD({given})" in file.source
    assert f"    {SET[later]}\n" in file.source


OWN_SCHEDULE = """\
import tensorflow as tf


class Slower(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, first):
        self.first = first

    def __call__(self, step):
        return self.first / (1 + step)


class Settings:
    @staticmethod
    def rate():
        return Slower(0.1)


{made}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
stepped = tf.keras.optimizers.SGD({given})
for x, y in tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    stepped.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize(
    ("made", "given"),
    [
        ("", "Slower(0.1)"),
        ("a = Slower(0.1)", "a"),
        ("def make():\n    return Slower(0.1)", "make()"),
        ("def make(first=0.1):\n    made = Slower(first)\n    return made", "make()"),
        ("def make():\n    return Slower(0.1)\n\n\na = make()", "learning_rate=a"),
        ("def inner():\n    return Slower(0.1)\n\n\ndef make():\n    return inner()", "make()"),
        ("make = lambda: Slower(0.1)", "make()"),
        ("", "Settings.rate()"),
    ],
)
def test_a_schedule_of_the_program_gives_the_rate_wherever_it_is_made(made: str, given: str) -> None:
    (file,) = outcome(OWN_SCHEDULE.format(made=made, given=given)).files.values()
    assert "step = step * hvd.size()\n        return (self.first / (1 + step)) * hvd.size()\n" in file.source
    assert file.source.count("* hvd.size()") == 3  # the third is of the data


COUNTED = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
stepped = tf.keras.optimizers.SGD(0.1)
count = tf.Variable(0, trainable=False)
data = tf.data.Dataset.from_tensor_slices((tf.ones([64, 4]), tf.ones([64, 1]))).batch(8)


def step(x, y, epoch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    stepped.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    count.assign_add(1)
    {inside}


for epoch in range(3):
    {before}
    for x, y in data:
        step(x, y, epoch)
"""


@pytest.mark.parametrize(
    ("inside", "before", "counts"),
    [
        ("stepped.lr.assign(0.1 / float(count))", "pass", True),
        ("stepped.learning_rate = 0.1 / float(count + 1)", "pass", True),
        ("rate = 0.1 / float(count)\n    stepped.learning_rate = rate", "pass", True),
        ("stepped.learning_rate = 0.1 / float(stepped.iterations)", "pass", True),
        ("stepped.learning_rate = 0.1 / (1 + epoch)", "pass", False),
        ("pass", "stepped.learning_rate = 0.1 / (1 + epoch)", False),
        ("stepped.learning_rate = stepped.learning_rate * 0.99", "pass", False),
        ("stepped.learning_rate = 0.05", "pass", False),
    ],
)
def test_a_rate_that_is_set_by_a_count_of_steps_is_warned_of(inside: str, before: str, counts: bool) -> None:
    found = outcome(COUNTED.format(inside=inside, before=before))
    assert [each.code for each in found.plan.warnings] == ["HVD311"] * counts


MIXED = """\
import argparse
import tensorflow as tf
from tensorflow.keras.optimizers import schedules

from project_data import x, y


class Slower(schedules.LearningRateSchedule):
    def __init__(self, first):
        self.first = first

    def __call__(self, step):
        return self.first / (1 + step)


parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.25)
parser.add_argument("--decays", action="store_true")
args = parser.parse_args()
{made}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD({given}), "mse")
model.fit(x, y)
"""
SLOWS = "schedules.ExponentialDecay(args.lr, 100, 0.5)"
MAYBE = {
    "an option": (f"rate = args.lr\nif args.decays:\n    rate = {SLOWS}", "rate"),
    "another name": (f"first = args.lr\nif args.decays:\n    first = {SLOWS}\nrate = first", "rate"),
    "either arm": (f"if args.decays:\n    rate = {SLOWS}\nelse:\n    rate = args.lr", "learning_rate=rate"),
    "of the program": ("rate = args.lr\nif args.decays:\n    rate = Slower(args.lr)", "rate"),
    "made of itself": (
        "rate = args.lr\nif args.decays:\n    rate = schedules.ExponentialDecay(rate, 100, 0.5)",
        "rate",
    ),
    "a function": (
        f"def made(first):\n    rate = first\n    if args.decays:\n        rate = {SLOWS}\n    return rate\n",
        "made(args.lr)",
    ),
    "a function with two ends": (
        f"def made(first):\n    if args.decays:\n        return {SLOWS}\n    return first\n",
        "made(args.lr)",
    ),
    "an expression": ("", f"{SLOWS} if args.decays else args.lr"),
    "an expression with a name": (f"rate = {SLOWS} if args.decays else args.lr", "rate"),
}


@pytest.mark.parametrize("decays", [False, True])
@pytest.mark.parametrize("way", MAYBE)
def test_a_rate_that_may_be_a_schedule_or_a_number_is_scaled_once(way: str, decays: bool) -> None:
    made, given = MAYBE[way]
    (file,) = outcome(MIXED.format(made=made, given=given)).files.values()
    body = file.source.partition("args = parser.parse_args()\n")[2].partition("part = ")[0]
    assert rate_of(file.source.partition("parser = ")[0], body, decays) == 0.5


def rate_of(head: str, body: str, decays: bool) -> float:
    """The rate at the first step that an optimizer is given on one of two ranks, without TensorFlow."""
    taken: list[object] = []

    class Schedule:
        pass

    class Exponential(Schedule):
        def __init__(self, rate: float, *rest: float) -> None:
            assert isinstance(rate, float)
            self.first = rate

        def __call__(self, step: int) -> float:
            return self.first

    kinds = SimpleNamespace(LearningRateSchedule=Schedule, ExponentialDecay=Exponential)
    kept = SimpleNamespace(SGD=lambda learning_rate: taken.append(learning_rate), schedules=kinds)
    hvd = SimpleNamespace(size=lambda: 2, DistributedOptimizer=lambda made: made)
    keras = SimpleNamespace(
        optimizers=kept, layers=MagicMock(), Sequential=MagicMock(), utils=SimpleNamespace(get_custom_objects=dict)
    )
    tf = SimpleNamespace(keras=keras)
    names = {"tf": tf, "schedules": kinds, "hvd": hvd, "keras": keras}
    names["args"] = SimpleNamespace(lr=0.25, decays=decays)
    classes = head[head.index("class Slower") :]
    exec(classes + body, names)  # the program's own lines
    rate = taken[0]
    return rate(0) if callable(rate) else float(rate)  # type: ignore[arg-type]
