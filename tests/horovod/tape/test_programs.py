"""Properties of every rewritten case, and two real processes."""

from __future__ import annotations

import ast
import difflib
import re
from pathlib import Path

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.rewrites.model import Rewritten
from distml.smoke.model import Options as Trial
from distml.smoke.report import as_text
from distml.source.project import Project
from distml.training.program import Program

from smoke.environments import horovod_python
from smoke.smoked import smoked

HERE = Path(__file__).parent
CASES = [
    pytest.param(program, id=f"{file.stem}: {name}")
    for file in sorted(HERE.glob("*.md"))
    for name, program in re.findall(
        r"^## ([^\n]+)\n+```py\n(.*?)^```$", file.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
]


def outcome(program: str, options: Options = Options()) -> tuple[list[str], Rewritten | None]:  # noqa: B008 - frozen
    path = Path("/nowhere/train.py")
    project = Project(str(path.parent), overlay={str(path): program.encode()})
    source = project.open(str(path))
    found = rewrite(Program([source], project), options, [source.location], {source.location: program})
    return [each.code for each in found.plan.refusals], found.files.get(source.location)


@pytest.mark.parametrize("program", CASES)
def test_a_second_time_changes_nothing(program: str) -> None:
    _, first = outcome(program)
    if first is not None:
        refusals, second = outcome(first.source)
        assert refusals == ["HVD201"]
        assert second is None


@pytest.mark.parametrize("program", CASES)
def test_lines_that_no_edit_touches_stay(program: str) -> None:
    _, found = outcome(program)
    if found is None:
        return
    touched = {edit.line for edit in found.edits}
    statements = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.stmt)]
    spread = {
        line
        for node in statements
        if node.lineno in touched or any(node.lineno <= line <= (node.end_lineno or 0) for line in touched)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.For | ast.With | ast.If)
    } | touched
    before, after = program.splitlines(), found.source.splitlines()
    for kind, start, end, *_ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind in ("replace", "delete"):
            assert {number + 1 for number in range(start, end) if before[number].strip()} <= spread


@pytest.mark.parametrize("program", CASES)
def test_without_rates_and_shards_gradients_are_averaged_and_weights_given_still(program: str) -> None:
    _, found = outcome(program, Options(scale_lr="none", shard="none"))
    if found is not None:
        assert ".shard(" not in found.source
        assert "* hvd.size()" not in found.source
        assert "DistributedGradientTape(" in found.source or "allreduce" in found.source


TRACED = """\
import numpy as np
import tensorflow as tf

generator = np.random.default_rng(3)
x = generator.normal(size=[96, 6]).astype("float32")
y = (x @ generator.normal(size=[6, 1])).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96).batch(8)


class Trainer:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x) - y) ** 2)
        variables = self.model.trainable_variables
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 5.0)
        self.optimizer.apply_gradients(zip(gradients, variables))
        return loss


trainer = Trainer()
for epoch in range(3):
    for images, labels in data:
        loss = trainer.step(images, labels)
    print(epoch, float(loss))
"""
PLAIN = """\
import numpy as np
import tensorflow as tf

generator = np.random.default_rng(3)
x = generator.normal(size=[100, 6]).astype("float32")
y = (x @ generator.normal(size=[6, 1])).astype("float32")
w = tf.Variable(tf.random.normal([6, 1]))
b = tf.Variable(tf.zeros([1]))
optimizer = tf.optimizers.SGD(0.01)
for epoch in range(3):
    for i in range(0, len(x), 8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x[i : i + 8] @ w + b - y[i : i + 8]) ** 2)
            gradients = tape.gradient(loss, [w, b])
        optimizer.apply_gradients(zip(gradients, [w, b]))
    print(epoch, float(loss))
"""

FORMS = """\
import tensorflow as tf

tf.random.set_seed(1)
x = tf.random.normal([64, 4])
y = tf.reduce_sum(x, 1, keepdims=True)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(4)
optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])


@tf.function
def train_epoch(data):
    for a, b in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(a) - b) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))


@tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None, 1])])
def step(a, b):
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean((model(a) - b) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
    return optimizer.apply_gradients(zip(gradients, model.trainable_variables))


train_epoch(data)
w = tf.Variable(tf.random.normal([4, 1]))
other = tf.keras.optimizers.Adam(0.05)
sums = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]
for n, (a, b) in enumerate(data):
    step(a, b)
    other.minimize(lambda: tf.reduce_mean((a @ w - b) ** 2), [w])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((a @ w - b) ** 2)
    other.apply_gradients([(tape.gradient(loss, w), w)])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(a))
    for total, gradient in zip(sums, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(gradient / 4.0)
    if n % 4 == 3:
        optimizer.apply_gradients(zip(sums, model.trainable_variables))
"""


@pytest.mark.parametrize(
    ("program", "compare"),
    [
        pytest.param(TRACED, True, id="traced"),
        pytest.param(FORMS, False, id="forms"),
        pytest.param(PLAIN, False, id="plain"),  # slices by hand: nobody can make the batch of one process larger
    ],
)
def test_two_processes(program: str, compare: bool) -> None:
    _, found = outcome(program)
    assert found is not None
    trial = Trial(np=2, steps=5 if compare else 0, compare=compare)
    report = smoked(program, found.source, python=horovod_python("tensorflow"), options=trial)
    assert report.ok, as_text(report)
