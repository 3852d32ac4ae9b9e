"""The samples that PyTorch keeps of its own functions: the shape that is known is the real one, and none is accused.

One of ten is taken here; all of them, in about two minutes, with `DISTML_SAMPLES=all` in the environment.
"""

from __future__ import annotations

import os
import warnings
from itertools import islice

import pytest

from distml.ops import find_op

from ops.replay import Tally, replay_valid
from ops.torch_oracle import op_db

pytestmark = pytest.mark.requires("torch")


def _named(path: str) -> object:
    """The real function or method of a qualified name, None where there is none."""
    import torch

    found: object = torch
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def _names(info: object) -> list[str]:
    spellings = {info.name, *(alias.name for alias in info.aliases)}  # type: ignore[attr-defined]
    found = sorted(f"{owner}.{spelling}" for spelling in spellings for owner in ("torch", "torch.Tensor"))
    return [name for name in found if find_op(name) is not None and callable(_named(name))]


STEP = 1 if os.environ.get("DISTML_SAMPLES") == "all" else 10


def test_samples() -> None:
    import torch

    tally = Tally()
    usual = (torch.float32, torch.complex64, torch.int64, torch.bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        for info in op_db():
            dtype = next((d for d in usual if d in info.supported_dtypes("cpu")), None)
            names = _names(info)
            samples = info.sample_inputs("cpu", dtype) if dtype is not None and names else ()
            for sample in islice(samples, 0, None, STEP):
                args = (sample.input, *sample.args)
                for name in names:
                    try:
                        # The samples of some variants are for another signature: what the function itself does counts.
                        real = _named(name)(*args, **sample.kwargs)  # type: ignore[operator]
                    except Exception:
                        continue
                    replay_valid(tally, name, "exact", args, sample.kwargs, real)
    assert sum(tally.counts.values()) > 18_000 / STEP, tally.counts
    assert not tally.wrong, "\n".join(tally.wrong[:20])
