"""torch.nested: what a nested tensor gives, in short programs that are checked and run for real."""

from __future__ import annotations

from itertools import product

import pytest

from interp.programs import errors_of

_HEAD = """import random
import torch
from torch import nn

made = torch.nested.{}
"""
_MADE = (
    "nested_tensor([torch.ones(3, 4), torch.ones(5, 4)])",
    "nested_tensor([torch.ones(n, 4) for n in (2, 5)], layout=torch.jagged)",
    "as_nested_tensor([torch.ones(random.randint(5, 5), 4) for _ in range(random.randint(2, 2))])",
)
_USED = (
    "made.to_padded_tensor(0.0) + torch.ones(4)",
    "made.to_padded_tensor(0.0) + torch.ones(3)",
    "nn.Linear(4, 2)(torch.nested.to_padded_tensor(made, 0.0))",
    "nn.Linear(5, 2)(torch.nested.to_padded_tensor(made, 0.0))",
    "made.to_padded_tensor(0.0).sum(2) + torch.ones(2, 5)",
    "made.to_padded_tensor(0.0)[0, 0, 0, 0]",
    "torch.nested.to_padded_tensor(made, 0.0, (2, 7, 4)) + torch.ones(7, 4)",
    "torch.nested.to_padded_tensor(made, 0.0, (2, 7, 4)) + torch.ones(5, 4)",
    "[part.sum(0) + torch.ones(4) for part in made.unbind()]",
    "torch.ones(made.dim(), 3) + torch.ones(3, 3)",
    "torch.ones(made.dim(), 3) + torch.ones(2, 3)",
    "nn.Linear(4, 6)(made).to_padded_tensor(0.0) + torch.ones(6)",
    "(made + made) * 2",
    "made.size(0), made.size(-1), made.is_nested, made.device",
    "torch.ones(2 if isinstance(made, torch.Tensor) else 3) + torch.ones(2)",
)
_ALONE = (
    "nested_tensor([torch.ones(3), torch.ones(3, 4)])",
    "nested_tensor([torch.ones(3), torch.ones(4)])",
    "nested_tensor([torch.ones(3, 2), torch.ones(4, 5)]).to_padded_tensor(0.0) + torch.ones(4, 5)",
    "nested_tensor([torch.ones(3, 2), torch.ones(4, 5)]).to_padded_tensor(0.0) + torch.ones(4, 2)",
)
PROGRAMS = [_HEAD.format(made) + used + "\n" for made, used in product(_MADE, _USED)] + [
    _HEAD.format(made) for made in _ALONE
]


@pytest.mark.requires("torch")
@pytest.mark.filterwarnings("ignore")
def test_what_fails_is_found() -> None:
    wrong = [text for text in PROGRAMS if _runs(text) != (not errors_of(text))]
    assert wrong == []


def _runs(text: str) -> bool:
    try:
        exec(compile(text, "program", "exec"), {"__name__": "__main__"})
    except Exception:
        return False
    return True
