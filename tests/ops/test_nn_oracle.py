"""torch.nn and torch.nn.functional against PyTorch's own samples: valid calls pass with the
right shape, also with symbols for sizes and nothing known of tensors; invalid ones are found."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from ops import torch_oracle as oracle

pytestmark = pytest.mark.requires("torch")

NOT_SHAPES = (
    "abc",
    "dtype",
    "eps must",
    "scalar type",
    "should be of type bool",
    "should be the same",
    "divisor must",
    "lambda must",
    "margin must",
    "delta",
    "label_smoothing",
    "ignore_index",
    "Lower bound",
    "min_val",
    "approximate",
    "only p == 1",
    "is not a valid",
    "should be type int64",
    "dim must be an int",
    "input_size",
    "same backward",
    "index out of range",
    "scalar.type",
    "non-empty vector",
)
"""What an error of PyTorch's samples says that has nothing to do with shapes."""


@functools.cache
def samples(kind: str) -> list[tuple[oracle.Sample, Any]]:
    found = oracle.module_samples() if kind == "modules" else oracle.function_samples("nn.functional.")
    # A vector without elements is normalized although the channel axis is missing.
    return [(s, real) for s, real in found if "batch_norm" not in s.name or s.args[0].numel()]


@pytest.mark.parametrize("kind", ["modules", "functions"])
@pytest.mark.parametrize(("mode", "exact"), [("plain", 0.95), ("shared", 0.9), ("distinct", 0.85), ("unknown", 0.1)])
def test_valid_calls(kind: str, mode: str, exact: float) -> None:
    counts, bad = oracle.tally(samples(kind), mode)
    assert not bad, "\n".join(bad[:10])
    total = sum(counts.values())
    assert total > (550 if kind == "modules" else 1200)
    assert counts["exact"] >= exact * total, counts


@pytest.mark.parametrize("kind", ["modules", "functions"])
def test_invalid_calls(kind: str) -> None:
    errors = oracle.module_errors() if kind == "modules" else oracle.function_errors("nn.functional.")
    found, missed = 0, []
    for sample, message in errors:
        if not oracle.has_rule(sample.name) or any(word in message for word in NOT_SHAPES):
            continue
        try:
            oracle.run(sample)
        except oracle.ShapeError:
            found += 1
        except TypeError:
            continue
        else:
            missed.append(f"{sample.name}: {message}")
    assert found >= (35 if kind == "modules" else 120), missed
    assert len(missed) <= (2 if kind == "modules" else 12), missed
