"""SHP310: what is told of kinds beside what NumPy and PyTorch do."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest

from distml.ops import ShapeError
from distml.ops.rules.wrong_kinds import LAWS, require_kinds

from interp.programs import errors_by_function
from ops.kind_forms import HEADS, programs, really
from ops.test_torch_samples import _named, _names
from ops.torch_oracle import op_db
from ops.world import ScratchWorld, lift


@pytest.mark.parametrize("library", ["numpy", pytest.param("torch", marks=pytest.mark.requires("torch"))])
def test_what_fails_for_its_kinds(library: str) -> None:
    source = programs(library)
    failing = really(library, source)
    found = errors_by_function(HEADS[library] + "\n".join(source.values()))
    told = [
        f"{source[name]}{error.code} {error.message}"
        for name, errors in found.items()
        for error in errors
        if name not in failing
    ]
    assert not told, "\n".join(told)
    missed = failing - {*found}
    assert len(missed) < 0.1 * len(failing), "\n".join(source[name] for name in sorted(missed))


def _changed(args: Any, which: Callable[[int], bool], dtype: Any) -> Any:
    """Arguments with some of their tensors of another kind; lists and tuples are left as they are."""
    import torch

    tensors = [place for place, each in enumerate(args) if isinstance(each, torch.Tensor)]
    wanted = {place for number, place in enumerate(tensors) if which(number)}
    return tuple(each.detach().to(dtype) if place in wanted else each for place, each in enumerate(args))


@pytest.mark.requires("torch")
def test_the_tables_by_samples() -> None:
    """What the tables refuse PyTorch refuses, for all of its samples with the kind of one tensor, or of all, changed."""
    import torch

    torch.manual_seed(0)
    counts: Counter[bool] = Counter()
    wrong = set()
    others = (torch.int64, torch.uint8, torch.bool, torch.float64)
    ways = [lambda number: True, lambda number: number == 0, lambda number: number == 1, lambda number: number > 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in op_db():
            names = [name for name in _names(info) if name in LAWS]
            known = bool(names) and torch.float32 in info.supported_dtypes("cpu")
            for sample in islice(info.sample_inputs("cpu", torch.float32), 6) if known else ():
                for name, way, dtype in ((n, w, d) for n in names for w in ways for d in others):
                    args = _changed((sample.input, *sample.args), way, dtype)
                    if any(each.numel() == 0 for each in args if isinstance(each, torch.Tensor)):
                        continue  # of nothing, some compute nothing
                    world = ScratchWorld()
                    call = world.begin(name)
                    options = {key: lift(world, value) for key, value in sample.kwargs.items()}
                    try:
                        require_kinds(call, [lift(world, each) for each in args], options, None)
                        continue
                    except ShapeError:
                        pass
                    try:
                        _named(name)(*args, **sample.kwargs)  # type: ignore[operator]
                    except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError):
                        counts[True] += 1
                    else:
                        wrong.add(f"{name} {[getattr(each, 'dtype', each) for each in args]} {sample.kwargs}")
    assert not wrong, "\n".join(sorted(wrong))
    assert counts[True] > 300, counts
