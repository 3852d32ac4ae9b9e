"""What follows a loop that is always left in its first turn is reached only without items, which nobody says may be."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

ITERABLES = [
    "xs",
    "stream(xs)",
    "xs.items()",
    "enumerate(xs)",
    "zip(xs, xs)",
    "iter(xs)",
    "range(xs)",
    "map(stream, xs)",
]
LEFT = [
    "return x",
    "raise ValueError(x)",
    "kept.append(x)\n        return kept",
    "if xs:\n            return x\n        return kept",
]
GOES_ON = ["kept.append(x)", "if x is None:\n            continue\n        kept.append(x)", "pass"]


def program(items: str, body: str) -> str:
    return (
        "import numpy as np\nfrom unseen import stream\n\n\ndef f(xs):\n    kept = []\n"
        f"    for x in {items}:\n        {body}\n    return np.zeros(3) @ np.zeros(4)\n"
    )


@pytest.mark.parametrize("items", ITERABLES)
def test_nothing_is_said_of_what_may_not_be_reached(items: str) -> None:
    for body in LEFT:
        assert errors_of(program(items, body)) == [], body


@pytest.mark.parametrize("items", ITERABLES)
def test_what_is_reached_is_followed(items: str) -> None:
    for body in GOES_ON:
        assert [each.code for each in errors_of(program(items, body))] == ["SHP101"], body


def test_a_stream_that_ends_the_loop_itself() -> None:
    text = (
        "import numpy as np\nfrom unseen import stream\n\n\ndef sample(model, most):\n    kept, count = [], 0\n"
        "    for x in stream(model):\n        kept.append(x[:, None])\n        count += 1\n"
        "        if count >= most:\n            return np.concatenate(kept, axis=1)\n"
        "    return np.concatenate(kept, axis=1)\n\n\nsample(stream, 1)\n"
    )
    assert errors_of(text) == []
