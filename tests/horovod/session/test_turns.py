"""Which batches each rank feeds, seen by running rewritten programs against a TensorFlow that only takes notes."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Self

import pytest
from horovod.torch.programs import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.project import Project
from distml.training.program import Program

HEAD = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
step = tf.train.AdamOptimizer(0.001).minimize(tf.reduce_mean(x))
BATCHES = [[number] for number in range(COUNT)]


class Data:
    position = 0

    def next_batch(self, size):
        self.position += 1
        return BATCHES[self.position - 1], "labels"


def generator():
    yield from BATCHES


def train(sess, batch):
    feeds = {x: batch}
    return sess.run(step, feeds)


def trained(sess):
    batch, labels = data.next_batch(8)
    return sess.run(step, {x: batch})


seen = []
data = Data()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""

LOOPS = {
    "in a condition": "for batch in BATCHES:\n    if train(sess, batch) is not None:\n        seen.append(1)",
    "index": "for i in range(COUNT):\n    sess.run(step, feed_dict={x: BATCHES[i]})",
    "index that is printed": "for i in range(COUNT):\n    sess.run(step, {x: BATCHES[i]})\n    seen.append(i)",
    "index from one": "for i in range(1, COUNT + 1):\n    batch = BATCHES[i - 1]\n    sess.run(step, {x: batch})",
    "index from elsewhere": "start = 2\nfor i in range(start, COUNT + 2):\n    sess.run(step, {x: BATCHES[i - start]})",
    "every second index": "for i in range(0, 2 * COUNT, 2):\n    sess.run(step, feed_dict={x: BATCHES[i // 2]})",
    "a number that others rely on": (
        "total = int(COUNT / 1)\nfor i in range(total):\n    sess.run(step, {x: BATCHES[i]})\nseen.append(total)"
    ),
    "zip": "for i, j in zip(range(COUNT), range(1, COUNT + 1)):\n    sess.run(step, {x: sum(BATCHES[i:j], [])})",
    "generator": "for batch in generator():\n    sess.run(step, {x: batch})",
    "enumerate": "for i, batch in enumerate(generator()):\n    sess.run(step, {x: batch})\n    seen.append(i)",
    "enumerate that finds the batch": "for i, _ in enumerate(generator()):\n    sess.run(step, {x: BATCHES[i]})",
    "draws": "for i in range(COUNT):\n    batch, labels = data.next_batch(8)\n    sess.run(step, {x: batch})\n    seen.append(i)",
    "draws, counted by while": (
        "done = 0\nwhile done < COUNT:\n    batch, _ = data.next_batch(8)\n    sess.run(step, {x: batch})\n    done += 1"
    ),
    "a position in a while loop": (
        "at = 0\nwhile at < COUNT:\n    begin = at\n    sess.run(step, {x: BATCHES[begin]})\n    at += 1"
    ),
    "a position that grows by more": (
        "at = 0\nwhile at < 3 * COUNT:\n    sess.run(step, feed_dict={x: BATCHES[at // 3]})\n    at += 3"
    ),
    "draws in a function": "for i in range(COUNT):\n    trained(sess)",
    "draws of an iterator": "found = generator()\nfor i in range(COUNT):\n    sess.run(step, {x: next(found)})",
    "a step in a function": "for batch in BATCHES:\n    train(sess, batch)",
    "epochs": "for epoch in range(2):\n    for i in range(COUNT):\n        train(sess, BATCHES[i])",
}


class Anything:
    """An operation, a module, a configuration: whatever is asked of it gives another."""

    def __getattr__(self, name: str) -> Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *args: Any, **kwargs: Any) -> Anything:
        return Anything()

    def __mul__(self, other: object) -> Anything:
        return self


class Session(Anything):
    """Notes what is fed."""

    fed: ClassVar[list[list[int]]] = []

    def __init__(self, config: object = None) -> None:
        self.config = config

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def run(self, fetches: object, feed_dict: dict[Any, list[int]] | None = None) -> list[Anything]:
        for value in (feed_dict or {}).values():
            Session.fed.append(value)
        return [Anything(), Anything()]


def fakes(rank: int, size: int) -> dict[str, ModuleType]:
    tensorflow = ModuleType("tensorflow")
    tensorflow.__getattr__ = lambda name: Session if name == "Session" else Anything()  # type: ignore[method-assign]
    hvd = ModuleType("horovod.tensorflow")
    hvd.__getattr__ = lambda name: Anything()  # type: ignore[method-assign]
    hvd.rank, hvd.size = (lambda: rank), (lambda: size)  # type: ignore[attr-defined]
    horovod = ModuleType("horovod")
    horovod.tensorflow = hvd  # type: ignore[attr-defined]
    return {"tensorflow": tensorflow, "horovod": horovod, "horovod.tensorflow": hvd}


def fed(program: str, count: int, rank: int = 0, size: int = 1) -> tuple[list[list[int]], list[int]]:
    """What a program feeds as one rank of several, and what it has seen."""
    Session.fed = []
    names: dict[str, Any] = {"COUNT": count}
    with pytest.MonkeyPatch.context() as patch:
        for name, module in fakes(rank, size).items():
            patch.setitem(sys.modules, name, module)
        exec(compile(program, "program", "exec"), names)
    return Session.fed, names["seen"]


@cache
def written(loop: str) -> tuple[str, str]:
    """A program with a loop, and what becomes of it."""
    program = HEAD + "".join(f"    {line}\n" for line in loop.splitlines())
    path = str(Path(__file__).with_name("program.py"))
    project = Project(str(Path(path).parent), overlay={path: program.encode()})
    source = project.open(path)
    outcome = rewrite(Program([source], project), Options(), [source.location], {source.location: program})
    return program, outcome.files[source.location].source


@pytest.mark.parametrize("form", LOOPS)
@given(st.integers(0, 12), st.integers(1, 4))
@settings(max_examples=12)
def test_ranks_share_the_batches_and_make_equally_many_steps(form: str, count: int, size: int) -> None:
    program, rewritten = written(LOOPS[form])
    alone, _ = fed(program, count)
    epochs = 2 if form == "epochs" else 1
    whole = [batch for epoch in range(epochs) for batch in alone[epoch * count :][: count // size * size]]
    ranks = [fed(rewritten, count, rank, size)[0] for rank in range(size)]
    assert {len(each) for each in ranks} == {len(whole) // size}
    assert [batch for turn in zip(*ranks, strict=True) for batch in turn] == whole


@pytest.mark.parametrize("form", ["index that is printed", "enumerate", "draws"])
def test_the_steps_of_a_rank_are_counted_without_gaps(form: str) -> None:
    for rank in range(3):
        assert fed(written(LOOPS[form])[1], 12, rank, 3)[1] == [0, 1, 2, 3]


def test_others_see_the_number_of_steps_of_a_rank() -> None:
    assert fed(written(LOOPS["a number that others rely on"])[1], 12, 1, 3)[1] == [4]


@pytest.mark.parametrize("form", LOOPS)
def test_in_one_process_nothing_changes(form: str) -> None:
    program, rewritten = written(LOOPS[form])
    assert fed(rewritten, 7)[0] == fed(program, 7)[0]


@pytest.mark.parametrize("form", LOOPS)
def test_what_was_rewritten_is_left_alone(form: str) -> None:
    _, rewritten = written(LOOPS[form])
    path = str(Path(__file__).with_name("program.py"))
    project = Project(str(Path(path).parent), overlay={path: rewritten.encode()})
    source = project.open(path)
    outcome = rewrite(Program([source], project), Options(), [source.location], {source.location: rewritten})
    assert not outcome.files
    assert [each.code for each in outcome.plan.refusals] == ["HVD201"]


TOLD = """\
import numpy as np
import tensorflow as tf


class Bar:
    def __init__(self, most):
        self.most = most

    def update(self, done):
        print("=" * (10 * done // self.most))


def cut(rows, size):
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
samples, size = np.ones([64, 4]), 8
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    in_all = {count}
    bar = Bar(in_all)
    for i, rows in enumerate(cut(samples, size)):
        session.run(train, {{x: rows}})
        bar.update(i + 1)
        {then}
"""
COUNTS = ["len(samples) // size", "(len(samples) + size - 1) // size", "int(np.ceil(len(samples) / size))"]


@pytest.mark.parametrize("count", COUNTS)
def test_the_number_of_batches_that_is_told_elsewhere_is_that_of_the_rank(count: str) -> None:
    (file,) = outcome(TOLD.format(count=count, then="pass")).files.values()
    whole = count if count.startswith("int") else f"({count})"
    assert f"in_all = {whole} // hvd.size()\n" in file.source


@pytest.mark.parametrize("then", ["done = i / in_all", "for j in range(in_all):\n            print(j)", "in_all = 3"])
def test_what_is_computed_by_it_keeps_the_number(then: str) -> None:
    (file,) = outcome(TOLD.format(count=COUNTS[0], then=then)).files.values()
    assert f"in_all = {COUNTS[0]}\n" in file.source
