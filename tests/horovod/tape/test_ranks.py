"""What each rank does, seen by running rewritten programs against a TensorFlow that only takes notes."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.project import Project
from distml.training.program import Program


class Notes:
    """What one rank does: batches it computes gradients of, updates, and what it says to the others."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.batches: list[tuple[int, ...]] = []
        self.said: list[str] = []
        self.applied: list[str] = []
        self.printed: list[str] = []


class Dataset:
    """`tf.data.Dataset` over integers; shuffling depends on the rank unless it has a seed."""

    def __init__(self, notes: Notes, make: Callable[[], Iterator[Any]], count: int = -2) -> None:
        self.notes, self.make, self.count = notes, make, count

    def _like(self, make: Callable[[], Iterator[Any]], count: int) -> Dataset:
        return Dataset(self.notes, make, count)

    def __iter__(self) -> Iterator[Any]:
        return self.make()

    def __len__(self) -> int:
        if self.count < 0:
            raise TypeError("the length is not known")
        return self.count

    def cardinality(self) -> int:
        return self.count

    def map(self, function: Callable[[Any], Any]) -> Dataset:
        return self._like(lambda: map(function, self), self.count)

    def filter(self, keep: Callable[[Any], bool]) -> Dataset:
        return self._like(lambda: filter(keep, self), -2)

    def take(self, count: int) -> Dataset:
        if count < 0:
            return self
        known = min(count, self.count) if self.count >= 0 else count if self.count == -1 else -2
        return self._like(lambda: (x for x, _ in zip(self, range(count), strict=False)), known)

    def skip(self, count: int) -> Dataset:
        known = max(0, self.count - count) if self.count >= 0 else self.count
        return self._like(lambda: (x for n, x in enumerate(self) if n >= count), known)

    def shard(self, size: int, rank: int) -> Dataset:
        known = len(range(rank, self.count, size)) if self.count >= 0 else self.count
        return self._like(lambda: (x for n, x in enumerate(self) if n % size == rank), known)

    def shuffle(self, buffer: int, seed: int | None = None) -> Dataset:
        def make() -> Iterator[Any]:
            items = list(self)
            random.Random(f"{seed}" if seed is not None else f"rank {self.notes.rank}").shuffle(items)
            return iter(items)

        return self._like(make, self.count)

    def batch(self, size: int, drop_remainder: bool = False) -> Dataset:
        def make() -> Iterator[Any]:
            held: list[Any] = []
            for x in self:
                held.append(x)
                if len(held) == size:
                    yield tuple(held)
                    held = []
            if held and not drop_remainder:
                yield tuple(held)

        known = self.count if self.count < 0 else self.count // size + (0 if drop_remainder else self.count % size > 0)
        return self._like(make, known)

    def unbatch(self) -> Dataset:
        return self._like(lambda: (x for each in self for x in each), -2)

    def prefetch(self, size: int) -> Dataset:
        return self

    def repeat(self, times: int | None = None) -> Dataset:
        def make() -> Iterator[Any]:
            turns = iter(int, 1) if times is None else iter(range(times))
            for _ in turns:
                yield from self

        return self._like(make, -1 if times is None else self.count * times if self.count >= 0 else self.count)


class Variable:
    """A variable, which knows whether it was ever assigned."""

    def __init__(self, value: Any, trainable: bool = True) -> None:
        self.value = value

    def __bool__(self) -> bool:
        return bool(self.value)

    def assign(self, value: Any) -> None:
        self.value = value


class Model:
    """A model with weights."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.trainable_variables = [Variable(0.0)]
        self.variables = [*self.trainable_variables, Variable(0.0)]

    def __call__(self, batch: Any) -> Any:
        return batch


class Tape:
    """A tape: its gradients are `local` until it is wrapped."""

    kind = "local"

    def __init__(self, persistent: bool = False) -> None:
        self.persistent = persistent

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def gradient(self, loss: Any, sources: Any) -> Any:
        return [f"{self.kind}" for _ in sources]


class Optimizer:
    """An optimizer that notes the gradients it is given and the batch of its rank."""

    def __init__(self, notes: Notes, learning_rate: float) -> None:
        self.notes, self.learning_rate, self.iterations = notes, learning_rate, 0

    def apply_gradients(self, pairs: Any) -> None:
        self.notes.applied += [str(gradient) for gradient, _ in pairs]
        self.iterations += 1

    def variables(self) -> list[Variable]:
        return [Variable(0)]


def libraries(notes: Notes) -> dict[str, ModuleType]:
    """The modules that a program imports."""
    tf, keras, hvd = ModuleType("tensorflow"), ModuleType("tensorflow.keras"), ModuleType("horovod.tensorflow")

    def loss_of(batch: Any) -> float:
        notes.batches.append(tuple(batch) if isinstance(batch, tuple | list) else (batch,))
        return 1.0

    def wrap(tape: Tape) -> Tape:
        wrapped = Tape()
        wrapped.kind = f"averaged {tape.kind}"
        return wrapped

    def broadcast(variables: list[Variable], root_rank: int) -> None:
        notes.said.append(f"broadcast {len(variables)}")

    def decide(answer: Any) -> Any:
        notes.said.append("decide")
        return answer

    data = ModuleType("tensorflow.data")
    data.Dataset = type(  # type: ignore[attr-defined]
        "Made",
        (),
        {
            "from_tensor_slices": staticmethod(lambda x: Dataset(notes, lambda: iter(x), len(x))),
            "range": staticmethod(lambda n: Dataset(notes, lambda: iter(range(n)), n)),
            "from_generator": staticmethod(lambda make, kind: Dataset(notes, lambda: iter(make()))),
        },
    )
    optimizers = ModuleType("tensorflow.keras.optimizers")
    optimizers.SGD = lambda learning_rate=0.01: Optimizer(notes, learning_rate)  # type: ignore[attr-defined]
    keras.__dict__.update(optimizers=optimizers, Model=lambda: Model(notes))
    config = ModuleType("tensorflow.config")
    config.list_physical_devices = lambda kind: []  # type: ignore[attr-defined]
    tf.__dict__.update(data=data, keras=keras, config=config, Variable=Variable, GradientTape=Tape)
    tf.__dict__.update(function=lambda step: step, reduce_mean=loss_of)
    hvd.__dict__.update(
        init=lambda: None, rank=lambda: notes.rank, size=lambda: notes.size, local_rank=lambda: notes.rank
    )
    hvd.__dict__.update(DistributedGradientTape=wrap, broadcast_variables=broadcast, broadcast_object=decide)
    hvd.__dict__.update(allgather_object=lambda answer: [decide(answer)])
    package = ModuleType("horovod")
    package.tensorflow = hvd  # type: ignore[attr-defined]
    return {"tensorflow": tf, "tensorflow.keras": keras, "horovod": package, "horovod.tensorflow": hvd}


@cache
def rewritten(program: str) -> str:
    path = Path("/nowhere/train.py")
    project = Project(str(path.parent), overlay={str(path): program.encode()})
    source = project.open(str(path))
    outcome = rewrite(Program([source], project), Options(), [source.location], {source.location: program})
    assert not outcome.plan.refusals
    return outcome.files[source.location].source


def run(program: str, size: int, **given: Any) -> list[Notes]:
    """Run a program as each of `size` ranks; what they noted."""
    code = compile(rewritten(program), "train.py", "exec")
    found = []
    for rank in range(size):
        notes = Notes(rank, size)
        with pytest.MonkeyPatch.context() as patched:
            for name, module in libraries(notes).items():
                patched.setitem(sys.modules, name, module)
            exec(code, {"__name__": "__main__", "print": notes.printed.append, **given})
        found.append(notes)
    return found


def together(found: list[Notes]) -> None:
    """All ranks make the same steps, of averaged gradients, and say the same to each other."""
    first = found[0]
    for notes in found:
        assert notes.said == first.said
        assert notes.applied == first.applied
        assert len(notes.batches) == len(first.batches)
        assert set(notes.applied) <= {"averaged local"}
    if first.applied:
        assert first.said.count("broadcast 1") == 1
        assert first.said.count("broadcast 2") == 1


def apart(found: list[Notes], most: int) -> None:
    """No sample is seen by two ranks, and few are left out."""
    seen = [x for notes in found for batch in notes.batches for x in batch]
    assert len(seen) == len(set(seen))
    assert most - len(seen) < len(found)


HEAD = """\
import tensorflow as tf

model = tf.keras.Model()
optimizer = tf.keras.optimizers.SGD(learning_rate=0.5)
"""
STEP = """\


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


"""
LIMITS = settings(max_examples=40)
SIZES = st.integers(1, 4)


@LIMITS
@given(st.integers(0, 40), st.integers(1, 5), SIZES)
def test_a_pipeline(count: int, batch: int, size: int) -> None:
    loop = "for x in tf.data.Dataset.range(COUNT).shuffle(100).batch(BATCH):\n    step(x)\n"
    found = run(HEAD + STEP + loop, size, COUNT=count, BATCH=batch)
    together(found)
    apart(found, count)


@LIMITS
@given(st.integers(0, 90), st.integers(2, 5), st.integers(1, 5), SIZES)
def test_batches_of_batches(count: int, length: int, batch: int, size: int) -> None:
    loop = """\
pieces = tf.data.Dataset.range(COUNT).batch(LENGTH, drop_remainder=True)
for x in pieces.shuffle(100).batch(BATCH):
    step(x)
"""
    found = run(HEAD + STEP + loop, size, COUNT=count, LENGTH=length, BATCH=batch)
    together(found)
    apart(found, count // length)
    pieces = [piece for notes in found for batch in notes.batches for piece in batch]
    assert all(piece == tuple(range(piece[0], piece[0] + length)) for piece in pieces)


@LIMITS
@given(st.integers(0, 40), st.integers(0, 10), st.integers(1, 5), SIZES)
def test_a_split(count: int, held: int, batch: int, size: int) -> None:
    loop = """\
full = tf.data.Dataset.range(COUNT).shuffle(100)
test = full.take(HELD)
train = full.skip(HELD).batch(BATCH)
for x in train:
    step(x)
for x in test:
    print(x)
"""
    found = run(HEAD + STEP + loop, size, COUNT=count, HELD=held, BATCH=batch)
    together(found)
    apart(found, max(0, count - held))
    tested = {x for notes in found for x in notes.printed}
    assert not tested & {x for notes in found for batch in notes.batches for x in batch}


@LIMITS
@given(st.integers(1, 40), st.integers(1, 5), st.integers(16, 60), SIZES)
def test_steps_of_an_endless_pipeline(count: int, batch: int, steps: int, size: int) -> None:
    loop = """\
data = tf.data.Dataset.range(COUNT + 8).repeat().batch(BATCH)
for number, x in enumerate(data.take(STEPS), 1):
    step(x)
"""
    found = run(HEAD + STEP + loop, size, COUNT=count, BATCH=batch, STEPS=steps)
    together(found)
    assert {len(notes.batches) for notes in found} == {steps // size}


@LIMITS
@given(st.integers(0, 40), st.integers(1, 5), SIZES)
def test_slices(count: int, batch: int, size: int) -> None:
    loop = """\
data = tuple(range(COUNT))
for epoch in range(1):
    for i in range(0, COUNT, BATCH):
        step(data[i : i + BATCH])
"""
    found = run(HEAD + STEP + loop, size, COUNT=count, BATCH=batch)
    together(found)
    seen = [x for notes in found for batch in notes.batches for x in batch]
    assert len(seen) == len(set(seen))
    assert count - len(seen) < size * batch


@LIMITS
@given(st.integers(0, 40), st.integers(1, 5), SIZES)
def test_numbered_batches(count: int, batch: int, size: int) -> None:
    loop = """\
data = tuple(range(COUNT))
for n in range(COUNT // BATCH):
    step(data[n * BATCH : (n + 1) * BATCH])
"""
    found = run(HEAD + STEP + loop, size, COUNT=count, BATCH=batch)
    together(found)
    seen = [x for notes in found for batch in notes.batches for x in batch]
    assert len(seen) == len(set(seen))
    assert count // batch - sum(len(notes.batches) for notes in found) < size


@LIMITS
@given(st.integers(0, 40), SIZES)
def test_a_generator(count: int, size: int) -> None:
    loop = """\
def batches():
    for n in range(COUNT):
        yield (n,)


for x in batches():
    step(x)
"""
    found = run(HEAD + STEP + loop, size, COUNT=count)
    together(found)
    apart(found, count)


@LIMITS
@given(st.integers(0, 40), st.integers(1, 4), SIZES)
def test_a_pipeline_over_a_generator(count: int, batch: int, size: int) -> None:
    loop = """\
def samples():
    yield from range(COUNT)


for x in tf.data.Dataset.from_generator(samples, int).shuffle(8).batch(BATCH):
    step(x)
"""
    found = run(HEAD + STEP + loop, size, COUNT=count, BATCH=batch)
    together(found)
    apart(found, count)


@LIMITS
@given(st.integers(16, 60), SIZES)
def test_batches_that_a_function_counts(steps: int, size: int) -> None:
    loop = """\
position = 0


def next_batch():
    global position
    position += 1
    return (position,)


for n in range(STEPS):
    step(next_batch())
"""
    found = run(HEAD + STEP + loop, size, STEPS=steps)
    together(found)
    apart(found, steps)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_ranks_leave_together(size: int) -> None:
    loop = """\
best = 9
for epoch in range(5):
    for x in tf.data.Dataset.range(12).batch(2):
        loss = step(x)
    if loss < best:
        break
"""
    found = run(HEAD + STEP + loop, size)
    together(found)
    assert found[0].said.count("decide") == 1


def test_only_gradients_that_are_applied_are_averaged() -> None:
    loop = """\
for x in tf.data.Dataset.range(4).batch(2):
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean(model(x))
    shown = tape.gradient(loss, [x])
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    model(show(shown))
"""
    shown: list[Any] = []
    together(run(HEAD + loop, 2, show=shown.append))
    assert shown == [["local"]] * 2


def test_the_rate_grows_with_the_ranks() -> None:
    program = HEAD + STEP + "for x in tf.data.Dataset.range(12).batch(2):\n    step(x)\n"
    assert "learning_rate=0.5 * hvd.size()" in rewritten(program)
