"""What `train_on_batch` gives is of one rank's batch, wherever that comes from; what is drawn now and then, and by whom."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import csv
import logging
import os

import numpy as np
from lib import data, sheets
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(4, input_shape=(4,))])
model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
x = np.load("x.npy")
source = data(x)
writer = csv.writer(open("losses.csv", "w"))
kept, total = [], np.zeros(2)
for i in range(1000):
    batch = {batch}
    loss = model.train_on_batch(batch, batch)
    total = np.add(total, loss)
    kept.append(loss[0])
    {told}
"""
BATCHES = ["next(source)", "source.get()", "x[np.random.randint(0, 64, 8)]", "data(x)", "x[i * 8 : i * 8 + 8]"]
TOLD = [
    "print(i, loss[0])",
    "print(f'{loss[0]:.3f}')",
    "print('%d: %s' % (i, total / (i + 1)))",
    "logging.info('loss %s', loss)",
    "writer.writerow([i, loss[0], loss[1]])",
    "print(np.mean(kept[-100:]))",
    "print(dict(zip(model.metrics_names, loss)))",
]
PLAIN = [
    "print(i)",
    "print(model.metrics_names)",
    "print(model.test_on_batch(x, x))",
    "print(i, model.predict_on_batch(x))",
]


def certified(batch: str, told: str) -> set[str]:
    """The warnings, those of the result among them."""
    result = outcome(PROGRAM.format(batch=batch, told=told))
    assert result.files
    return {each.code for each in result.plan.warnings}


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("told", TOLD)
def test_a_loss_of_a_batch_is_told_with_a_warning(batch: str, told: str) -> None:
    assert "HVD313" in certified(batch, told)


@pytest.mark.parametrize("told", PLAIN)
def test_what_is_the_same_on_all_ranks_is_told(told: str) -> None:
    assert "HVD313" not in certified("next(source)", told)


DRAWN = [
    "sheets.put(batch, 'out.png')",
    "sheets.put('out.gif', batch)",
    "sheets.put(batch, 'batch_{}.png'.format(i))",
    "sheets.put(batch, 'batch_%d.jpg' % i)",
    "sheets.put(batch, f'batch_{i}.pdf')",
    "sheets.put(batch, os.path.join('out', str(i) + '.wav'), rows=2)",
    "name = 'batch_' + str(i) + '.PNG'; sheets.put(batch, path=name)",
    "sheets.Sheet(batch).put(model.predict_on_batch(batch), f'{i}.svg')",
]
OTHER = [
    "sheets.put(batch, 'model.bin')",
    "sheets.put(batch, name)",
    "sheets.get('font.svg')",
    "sheets.get('font.svg', 'other.svg')",
    "found = sheets.get(batch, 'mask.png')",
]


@pytest.mark.parametrize("drawn", DRAWN)
def test_a_picture_is_drawn_by_one_rank_as_often_as_before(drawn: str) -> None:
    (file,) = outcome(PROGRAM.format(batch="next(source)", told=f"if i % 50 == 0:\n        {drawn}")).files.values()
    body = file.source[file.source.index("if i %") :]
    assert "i % max(1, 50 // hvd.size()) == 0" in body
    assert "on_rank_zero(" in body or "if hvd.rank() == 0" in body


@pytest.mark.parametrize("other", OTHER)
def test_what_may_be_something_else_is_done_by_all(other: str) -> None:
    told = f"name = os.environ['NAME']\n    if i % 50 == 0:\n        {other}"
    (file,) = outcome(PROGRAM.format(batch="next(source)", told=told)).files.values()
    assert f"if i % 50 == 0:\n        {other}\n" in file.source


@pytest.mark.parametrize(
    "judged",
    ["test_on_batch(x, x)", "predict_on_batch(x)", "evaluate(x, x)", "predict(x)", "evaluate_generator(source)"],
)
def test_a_model_is_judged_as_often_as_before(judged: str) -> None:
    told = f"if i % 50 == 0:\n        kept.append(model.{judged})"
    (file,) = outcome(PROGRAM.format(batch="next(source)", told=told)).files.values()
    assert "if i % max(1, 50 // hvd.size()) == 0:" in file.source
