"""Batches of a generator are shared out wherever it is made: beside the loop, or for a function that is given it.

The rewritten programs are run for each of two ranks on NumPy, with a library of models that notes what it is given.
"""

from __future__ import annotations

from itertools import product

import pytest
from horovod.fit.test_batches import ARRAYS, HEAD, MODEL, run
from horovod.torch.programs import outcome

GENERATORS = {
    "in order": """
def batches(x, y, n):
    for i in range(0, len(x), n):
        yield x[i : i + n], y[i : i + n]
""",
    "in an order of its own": """
def batches(x, y, n):
    order = np.random.permutation(len(x))
    for i in range(0, len(x), n):
        yield x[order[i : i + n]], y[order[i : i + n]]
""",
    "of what it finds itself": """
def batches(n):
    order = np.random.permutation(80)
    for i in range(0, 80, n):
        yield x[order[i : i + n]], y[order[i : i + n]]
""",
    "of rows put together": """
def batches(x, y, n):
    for i in range(0, len(x), n):
        a, b = np.zeros((n, 1)), np.zeros((n, 1))
        for k in range(n):
            a[k], b[k] = x[i + k], y[i + k]
        yield a, b
""",
}
STEP = "{model}.train_on_batch(a, b)"
LOOPS = {
    "in the loop": "for epoch in range(2):\n    for a, b in {made}:\n        " + STEP,
    "by a name": "for epoch in range(2):\n    found = {made}\n    for a, b in found:\n        " + STEP,
    "numbered": "for epoch in range(2):\n    for i, (a, b) in enumerate({made}):\n        " + STEP,
    "given": "def train(net, source):\n    for a, b in source:\n        net.train_on_batch(a, b)\n\n\n"
    "for epoch in range(2):\n    train(model, {made})",
    "given by a name": "def train(net, source):\n    for a, b in source:\n        net.train_on_batch(a, b)\n\n\n"
    "for epoch in range(2):\n    found = {made}\n    train(model, source=found)",
    "given on": "def train(net, source):\n    for a, b in source:\n        net.train_on_batch(a, b)\n\n\n"
    "def run(net, source):\n    train(net, source)\n\n\nfor epoch in range(2):\n    run(model, {made})",
    "taken": "def train(net, source):\n    for step in range(10):\n        a, b = next(source)\n"
    "        net.train_on_batch(a, b)\n\n\nfor epoch in range(2):\n    train(model, {made})",
}


@pytest.mark.parametrize(("order", "loop"), list(product(GENERATORS, LOOPS)))
def test_ranks_train_on_parts_of_what_a_generator_gives(order: str, loop: str) -> None:
    made = "batches(8)" if "itself" in order else "batches(x, y, 8)"
    text = LOOPS[loop].format(made=made, model="model") + "\nmodel.test_on_batch(x, y)\n"
    program = HEAD + ARRAYS["apart"] + MODEL + GENERATORS[order] + "\n\n" + text
    found = outcome(program)
    assert not found.plan.warnings and not found.plan.refusals
    (file,) = found.files.values()
    alone, *ranks = run(program, 0), run(file.source, 0), run(file.source, 1)
    given = [rank["train_on_batch"] for rank in ranks]
    assert len(given[0]) == len(given[1]) == len(alone["train_on_batch"]) // 2
    half = len(given[0]) // 2
    for epoch in (slice(0, half), slice(half, None)):
        samples = sorted(each for part in given for x, _ in part[epoch] for each in x)
        assert samples == sorted({each for x, _ in alone["train_on_batch"] for each in x})
    assert all(y == [3 * each for each in x] for part in given for x, y in part)
    assert ranks[0]["test_on_batch"] == ranks[1]["test_on_batch"] == alone["test_on_batch"]


CALLED = """
def train():
{first}    for i in range(0, 80, 8):
        noise = np.random.normal(size=(8, 1)) * 0.001
        model.train_on_batch(x[{rows}] + noise, y[{rows}])


for epoch in range(3):
{turn}    train()
"""
ORDERS = {
    "none": ("", "i : i + 8", ""),
    "drawn in the function": ("    p = np.random.permutation(80)\n", "p[i : i + 8]", ""),
    "drawn where it is called": ("", "p[i : i + 8]", "    p = np.random.permutation(80)\n"),
}


@pytest.mark.parametrize("order", ORDERS)
def test_what_a_function_draws_each_time_it_is_called_differs(order: str) -> None:
    """The orders of all epochs are those of all ranks; the noise is of each rank, and another in each epoch."""
    first, rows, turn = ORDERS[order]
    program = HEAD + ARRAYS["apart"] + MODEL + CALLED.format(first=first, rows=rows, turn=turn)
    (file,) = outcome(program).files.values()
    given = [run(file.source, rank)["train_on_batch"] for rank in range(2)]
    for epoch in range(3):
        part = slice(epoch * 5, epoch * 5 + 5)
        assert sorted(round(each) for rank in given for x, _ in rank[part] for each in x) == list(range(1, 81))
    noise = [round(each - round(each), 12) for rank in given for x, _ in rank for each in x]
    assert len(noise) == len(set(noise))
