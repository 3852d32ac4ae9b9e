"""What a `Sequence` draws when it is asked for a batch is drawn by each rank for itself; the order it keeps is that of all.

The rewritten programs are run for each of two ranks, with a library whose `fit` goes through what it is given.
"""

from __future__ import annotations

import builtins
import itertools
import random
from typing import Any

import numpy as np
import pytest
from horovod.fit.test_batches import Library
from horovod.torch.programs import outcome

PROGRAM = """\
import random
import numpy as np
from tensorflow import keras

{seed}
{above}

class Batches(keras.utils.Sequence):
    def __init__(self):
        self.order = np.arange(64.0)
        {made}

    def __len__(self):
        return 8

    def __getitem__(self, index):
        {item}
        return rows, rows

    def on_epoch_end(self):
        {again}

    def other(self):
        return np.random.randint(0, 64, 8)

model = keras.Sequential([keras.layers.Dense(1)])
model.compile('sgd', 'mse')
model.fit(Batches(), epochs=3)
"""
PICKED = {
    "by NumPy": "rows = np.random.choice(64, 8)",
    "by Python": "rows = [random.randrange(64) for _ in range(8)]",
    "one by one": "rows = []\n        while len(rows) < 8:\n            rows.append(random.choice(range(64)))",
    "by a method": "rows = self.other()",
    "by a function": "rows = picked(64)",
    "by its own": "rows = self.rng.integers(0, 64, 8)",
    "by its own with a seed": "rows = self.seeded.integers(0, 64, 8)",
    "noise alone": "rows = self.order[index * 8 : index * 8 + 8] + np.random.rand(8) / 2",
}
ABOVE = "def picked(size):\n    return np.random.randint(0, size, 8)\n\n"
MADE = "self.rng, self.seeded = np.random.default_rng(), np.random.default_rng(3)"
SEEDS = {"no seed": "", "NumPy's seed": "np.random.seed(1)", "Python's seed": "random.seed(1)"}
ORDERS = {
    "no order": "pass",
    "an order": "np.random.shuffle(self.order)",
    "an order by Python": "random.shuffle(self.order)",
}
CASES = [
    (seed, way, order) for way in PICKED for order in ORDERS for seed in SEEDS if order == "no order" or not SEEDS[seed]
]


class Fitting(Library):
    """Goes through a sequence in three epochs."""

    def __getattr__(self, name: str) -> Any:
        if name == "Sequence":
            return object
        return Fitting(f"{self._path}.{name}", self._seen, self._rank)

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self._path.endswith(").fit") and hasattr(given[0], "__next__"):
            self._seen["items"] = [[[float(each) for each in x] for x, _ in itertools.islice(given[0], 8)]]
            return self
        if self._path.endswith(").fit"):
            for _ in range(3):
                items = [given[0][number] for number in range(len(given[0]))]
                self._seen.setdefault("items", []).append([[float(each) for each in x] for x, _ in items])
                given[0].on_epoch_end()
            return self
        if self._path.rpartition(".")[2] in ("rank", "local_rank", "size", "get_weights", "list_physical_devices"):
            return Library(self._path, self._seen, self._rank)(*given)
        return Fitting(f"{self._path}()", self._seen, self._rank)


def epochs(text: str, rank: int) -> list[list[list[float]]]:
    """The batches of each epoch that a rank trains on."""
    seen: dict[str, list[Any]] = {}

    def found(name: str, outer: Any = None, inner: Any = None, wanted: Any = (), level: int = 0) -> Any:
        if name.partition(".")[0] in ("numpy", "itertools", "random"):
            return builtins.__import__(name, outer, inner, wanted, level)
        return Fitting(name if wanted else name.partition(".")[0], seen, rank)

    states = np.random.get_state(), random.getstate()
    np.random.seed(100 + rank)
    random.seed(100 + rank)
    known = {**vars(builtins), "__import__": found, "print": lambda *_: None}
    exec(compile(text, "script", "exec"), {"__builtins__": known, "__name__": "script"})  # the text is made here
    np.random.set_state(states[0])
    random.setstate(states[1])
    return seen["items"]


@pytest.mark.parametrize(("seed", "way", "order"), CASES)
def test_batches_of_ranks_differ(seed: str, way: str, order: str) -> None:
    program = PROGRAM.format(seed=SEEDS[seed], above=ABOVE, made=MADE, item=PICKED[way], again=ORDERS[order])
    (file,) = outcome(program).files.values()
    one, other = (epochs(file.source, rank) for rank in range(2))
    for first, second in zip(one, other, strict=True):
        assert len(first) == len(second) == 4
        assert not [each for each in first if each in second], file.source
        if way == "noise alone":
            samples = [int(each) for batch in (*first, *second) for each in batch]
            assert sorted(samples) == list(range(64))


GENERATOR = """\
import random
import numpy as np
from tensorflow import keras

x = np.arange(64.0).reshape(-1, 1)


def order(size):
    {drawn}
    return rows


class Store:
    def rows(self):
        return order(64)


class Source:
    def __init__(self, store):
        self._store = store

    def get(self):
        for i in self._store.rows():
            yield x[i]

    def batches(self):
        while True:
            for each in {given}:
                yield each, each


model = keras.Sequential([keras.layers.Dense(1)])
model.compile('sgd', 'mse')
model.fit(Source(Store()).batches(), steps_per_epoch=16)
"""
DRAWN = ("rows = np.random.permutation(size)", "rows = list(range(size))\n    random.shuffle(rows)")
GIVEN = ("x[order(64)]", "x[self._store.rows()]", "self.get()")


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("given", GIVEN)
def test_an_order_that_a_generator_asks_others_for_is_that_of_all(drawn: str, given: str) -> None:
    (file,) = outcome(GENERATOR.format(drawn=drawn, given=given)).files.values()
    (one,), (other,) = (epochs(file.source, rank) for rank in range(2))
    assert len({each for batch in (*one, *other) for each in batch}) == 16, file.source
