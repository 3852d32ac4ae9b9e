"""Pointwise ops, creation, attributes, gathering, sorting and reductions against PyTorch's own samples."""

from __future__ import annotations

import itertools
import warnings
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from distml.ops import names
from distml.ops.registry import _OPS

from ops.replay import Tally, replay_op_db, replay_op_db_errors, replay_valid, torch_names
from ops.torch_oracle import op_db

pytestmark = pytest.mark.requires("torch")

ELEMENTS = ("blend", "operators", "pointwise")
OTHERS = ("attributes", "create", "gather", "index", "random", "reduce", "reorder", "sort")

REPLAYED_UNDER_ANOTHER_NAME = {"normal", "polygamma", "special.polygamma"}
"""The samples of these are for methods with other parameters than the function's."""


def of_modules(*modules: str) -> set[str]:
    """The ops that modules of distml.ops.torch register, as op_db names them."""
    names()
    wanted = {f"distml.ops.torch.{module}" for module in modules}
    found = [n for n, f in _OPS.items() if n.startswith("torch.") and _origin(f) in wanted]
    return torch_names(found) - REPLAYED_UNDER_ANOTHER_NAME


def _origin(function: Any) -> str:
    module: str = getattr(function, "__wrapped__", function).__module__
    return module


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """The tensors are tiny: threads would only wait for each other."""
    import torch

    torch.set_num_threads(1)


def about_an_empty_index(what: str) -> bool:
    """torch lets an index without elements have any rank; a symbol is not taken to be 0 for that."""
    return what.startswith("spurious: torch.") and "gather" in what and ", 0])" in what


@pytest.mark.parametrize(
    ("modules", "mode", "exact", "told"),
    [
        (ELEMENTS, "exact", 0.98, 0.99),
        (ELEMENTS, "symbolic", 0.5, 0.98),
        (ELEMENTS, "opaque", 0, 0),
        (OTHERS, "exact", 0.94, 0.97),
        (OTHERS, "symbolic", 0.6, 0.95),
        (OTHERS, "opaque", 0.18, 0.22),
    ],
)
def test_valid_calls(modules: tuple[str, ...], mode: str, exact: float, told: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tally = replay_op_db(of_modules(*modules), mode, 5)
    assert [w for w in tally.wrong if not about_an_empty_index(w)] == []
    assert sum(tally.counts.values()) > 300
    assert tally.share("exact") >= exact, tally.counts
    assert tally.share("exact", "partial") >= told, tally.counts


def test_failing_calls_are_found() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tally = replay_op_db_errors(of_modules(*ELEMENTS, *OTHERS))
    about_types = [m for m in tally.missed if "combination of arg" in m or "must be Tensor" in m]
    assert tally.counts["found"] >= 75
    assert tally.counts["missed"] - len(about_types) <= 130


@cache
def _variants() -> list[tuple[str, Any, dict[str, Any], Any]]:
    """In-place methods and operators of op_db: registered name, arguments, and what the real function gives."""
    import torch

    names()
    found = []
    for info in op_db():
        variants = [(f"torch.Tensor.{info.name}_", info.inplace_variant)]
        variants += [
            (f"torch.Tensor.{f.__name__}", f) for f in (info.operator_variant, info.inplace_operator_variant) if f
        ]
        known = [(n, f) for n, f in variants if f is not None and n in _OPS and n not in SELF_MADE]
        if not known:
            continue
        dtype = torch.float32 if torch.float32 in info.supported_dtypes("cpu") else torch.int64
        for sample in itertools.islice(info.sample_inputs("cpu", dtype), 4):
            for name, function in known:
                first = sample.input.clone() if isinstance(sample.input, torch.Tensor) else sample.input
                with suppress(RuntimeError, TypeError, ValueError, IndexError):
                    real = function(first, *sample.args, **sample.kwargs)
                    found.append((name, (sample.input, *sample.args), sample.kwargs, real))
    return found


SELF_MADE = {"torch.Tensor.resize_", "torch.Tensor.resize_as_", "torch.Tensor.normal_", "torch.Tensor.polygamma_"}


@pytest.mark.parametrize("mode", ["exact", "symbolic", "opaque"])
def test_operators_and_methods_in_place(mode: str) -> None:
    tally = Tally()
    for name, args, kwargs, real in _variants():
        replay_valid(tally, name, mode, args, kwargs, real)
    assert tally.wrong == []
    assert sum(tally.counts.values()) > 300
