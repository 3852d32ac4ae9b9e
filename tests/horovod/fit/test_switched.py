"""Draws that are switched off by what a generator of batches is given take no part in those of training."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """\
import numpy as np
from tensorflow import keras


def draw(low=0.0, high=1.0):
    return np.random.rand() * (high - low) + low


def prepare(line, random=True):
    {prepare}


def generator(lines, size, random={default}, **rest):
    i, n = 0, len(lines)
    while True:
        batch = []
        for _ in range(size):
            if {test} and i == 0:
                np.random.shuffle(lines)
            batch.append(prepare(lines[i], {handed}))
            i = (i + 1) % n
        yield np.array(batch), np.zeros(size)


def wrapped(lines, size, random=True):
    return generator(lines, size, random) if len(lines) else None


lines = open("lines.txt").readlines()
model = keras.Sequential([keras.layers.Flatten(input_shape=(8, 8)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(generator(lines[:90], 16, random=True), steps_per_epoch=5, validation_data={judged}, validation_steps=4)
"""
PREPARES = {
    "leaves early": ("if not random:", "    return np.load(line)", "return np.load(line) * draw()"),
    "a branch": ("image = np.load(line)", "if random:", "    image = image * draw()", "return image"),
    "a condition": ("return np.load(line) * draw() if random else np.load(line)",),
    "both": ("if random and draw() < 0.5:", "    return np.load(line)[::-1]", "return np.load(line)"),
    "a comparison": ("if random is True:", "    return np.load(line) * draw()", "return np.load(line)"),
    "or": ("if not random or line == '':", "    return np.load(line)", "return np.load(line) * draw()"),
}
OFF = {
    "by name": ("True", "random", "random=random", "generator(lines[90:], 16, random=False)"),
    "by position": ("True", "random", "random", "generator(lines[90:], 16, False)"),
    "by default": ("False", "random", "random=random", "generator(lines[90:], 16)"),
    "through a function": ("True", "random", "random", "wrapped(lines[90:], 16, False)"),
}
ON = {
    "by default": ("True", "random", "random=random", "generator(lines[90:], 16)"),
    "always": ("True", "size", "random=True", "generator(lines[90:], 16, random=False)"),
    "not handed on": ("True", "random", "", "generator(lines[90:], 16, random=False)"),
    "by what nobody knows": ("True", "random", "random=random", "generator(lines[90:], 16, random=bool(lines))"),
    "by keywords": ("True", "random", "random=random", "generator(lines[90:], 16, **{'random': False})"),
}


def warned(prepare: str, default: str, test: str, handed: str, judged: str) -> bool:
    lines = "\n    ".join(PREPARES[prepare])
    text = PROGRAM.format(prepare=lines, default=default, test=test, handed=handed, judged=judged)
    result = outcome(text)
    assert result.files
    return any("draw from one generator" in each.message for each in result.plan.warnings)


@pytest.mark.parametrize("prepare", PREPARES)
@pytest.mark.parametrize("way", OFF)
def test_what_is_switched_off_draws_nothing(prepare: str, way: str) -> None:
    assert not warned(prepare, *OFF[way])


@pytest.mark.parametrize("prepare", PREPARES)
@pytest.mark.parametrize("way", ON)
def test_what_may_draw_is_warned_of(prepare: str, way: str) -> None:
    assert warned(prepare, *ON[way])
