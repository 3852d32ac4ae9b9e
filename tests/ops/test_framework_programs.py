"""Short programs of TensorFlow, Keras and JAX: an error is found exactly in those that failed when they were run
(`frameworks/record_programs.py` wrote which)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interp.programs import errors_of
from ops.frameworks.record_programs import PROGRAMS

RECORDS = sorted(Path(__file__).with_name("frameworks").glob("programs-*.json"))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_what_fails_is_found(path: Path) -> None:
    ended: dict[str, bool] = json.loads(path.read_text("utf-8"))
    assert list(ended) == PROGRAMS[path.stem.split("-")[1]]
    assert {text: not errors_of(text) for text in ended} == ended
    assert set(ended.values()) == {True, False}
