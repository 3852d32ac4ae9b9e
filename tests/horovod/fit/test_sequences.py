"""In whatever way a `Sequence` or a generator draws its order: ranks train on other samples, and together on all.

Real processes of Horovod run all programs of the table, which note which samples they give in each epoch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from horovod.tape.test_ranks import rewritten

from smoke.environments import horovod_python
from spmd.running import together

HEAD = """\
import random

import numpy as np
import tensorflow as tf
from tensorflow import keras

x = np.arange(64, dtype="float32").reshape(64, 1)
y = x / 64
seen = [{}]

"""
SEQUENCE = """\
class Batches(keras.utils.Sequence):
    def __init__(self, x, y, size=8):
        super().__init__()
        self.x, self.y, self.size = x, y, size
        {made}

    def __len__(self):
        return len(self.x) // self.size

    def __getitem__(self, number):
        ids = self.order[number * self.size : (number + 1) * self.size]
        seen[-1][number] = [int(each) for each in ids]
        return self.x[ids], self.y[ids]

    def on_epoch_end(self):
        seen.append({{}})
        {again}

"""
GENERATOR = """\
def batches(x, y, size=8):
    {made}
    while True:
        seen.append({{}})
        {again}
        for number in range(0, len(x), size):
            ids = order[number : number + size]
            seen[-1][number] = [int(each) for each in ids]
            yield x[ids], y[ids]

"""
FIT = """
model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
model.compile("sgd", "mse")
model.fit({given}, epochs=2, verbose=0)
"""
ALL = "np.arange(len(x))"
SEQUENCES = {
    "where it is made": (f"self.order = {ALL}\n        np.random.shuffle(self.order)", "pass"),
    "at the end of epochs": (f"self.order = {ALL}", "np.random.shuffle(self.order)"),
    "by what an epoch ends with": (
        "self.on_epoch_end()",
        "self.order = np.arange(len(self.x))\n        np.random.shuffle(self.order)",
    ),
    "by permutations": (
        "self.order = np.random.permutation(len(x))",
        "self.order = np.random.permutation(len(self.x))",
    ),
    "by Python": (
        "self.order = list(range(len(x)))\n        random.shuffle(self.order)",
        "random.shuffle(self.order)",
    ),
    "by its own": (
        f"self.rng = np.random.default_rng()\n        self.order = {ALL}\n        self.rng.shuffle(self.order)",
        "self.rng.shuffle(self.order)",
    ),
    "with noise": (
        f"self.order = {ALL}\n        np.random.shuffle(self.order)",
        "self.noise = np.random.normal(size=len(seen) % 3)\n        np.random.shuffle(self.order)",
    ),
    "in order": (f"self.order = {ALL}", "pass"),
}
GENERATORS = {
    "by permutations": ("pass", "order = np.random.permutation(len(x))"),
    "by Python": ("order = list(range(len(x)))", "random.shuffle(order)"),
    "by its own": ("rng = np.random.default_rng()", "order = rng.permutation(len(x))"),
}


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    for name, (made, again) in SEQUENCES.items():
        given = "Batches(x, y)" if len(name) % 2 else "train"
        above = "" if len(name) % 2 else "train = Batches(x, y)\n"
        yield name, HEAD + SEQUENCE.format(made=made, again=again) + above + FIT.format(given=given)
    for name, (made, again) in GENERATORS.items():
        given = "batches(x, y), steps_per_epoch=8"
        yield f"a generator {name}", HEAD + GENERATOR.format(made=made, again=again) + FIT.format(given=given)


DRIVER = """
import json, runpy, sys, tempfile
import horovod.tensorflow as hvd
hvd.init()
found = {}
for name, text in json.load(open(sys.argv[1])).items():
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(text)
        script.flush()
        found[name] = runpy.run_path(script.name, run_name="__main__")["seen"]
with open(f"{hvd.rank()}.json", "w") as told:
    json.dump(found, told)
"""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, list[dict[str, list[int]]]]]:
    """For each rank the samples that each program gives, by epoch and batch."""
    folder, python = tmp_path_factory.mktemp("sequences"), horovod_python("tensorflow")
    (folder / "driver.py").write_text(DRIVER)
    (folder / "texts.json").write_text(json.dumps({name: rewritten(text) for name, text in programs()}))
    together(["driver.py", "texts.json"], folder, python)
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


@pytest.mark.parametrize("name", SEQUENCES)
def test_ranks_share_the_samples_of_a_sequence(name: str, given: list[dict[str, list[dict[str, list[int]]]]]) -> None:
    first, second = ([epoch for epoch in rank[name] if epoch] for rank in given)
    assert len(first) == len(second) == 2
    for one, other in zip(first, second, strict=True):
        samples = [[each for batch in rank.values() for each in batch] for rank in (one, other)]
        assert len(samples[0]) == len(samples[1])
        assert sorted(samples[0] + samples[1]) == list(range(64))
    if name not in ("in order", "where it is made"):
        assert first[0] != first[1]


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_of_all_ranks_draw_alike(name: str, given: list[dict[str, list[dict[str, list[int]]]]]) -> None:
    first, second = ([epoch for epoch in rank[f"a generator {name}"] if len(epoch) == 8] for rank in given)
    count = min(len(first), len(second))
    assert count >= 1
    assert first[:count] == second[:count]
