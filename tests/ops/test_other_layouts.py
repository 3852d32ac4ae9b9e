"""torch.nested and torch.sparse: what a nested or a sparse tensor gives, in short programs that are checked and run for real."""

from __future__ import annotations

from itertools import product

import pytest

from interp.programs import errors_of, runs

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
_SPARSE = """import numpy as np
import torch

places, kept = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.ones(3)
made = {}
"""
_SPARSE_MADE = (
    "torch.sparse_coo_tensor(places, kept, (2, 3))",
    "torch.sparse_coo_tensor(places, kept, torch.Size([2, 3])).float().coalesce()",
    "torch.sparse.FloatTensor(places, kept, torch.Size((2, 3)))",
    "torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], size=[2, 3])",
    "torch.sparse_coo_tensor((2, 3))",
    "torch.sparse_csr_tensor(torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2]), kept, (2, 3))",
    "torch.sparse_coo_tensor(torch.from_numpy(np.vstack([np.zeros(3), np.arange(3)])).long(), torch.ones(3), (2, 3))",
)
_SPARSE_USED = (
    "torch.sparse.mm(made, torch.ones(3, 4)) + torch.ones(2, 4)",
    "torch.sparse.mm(made, torch.ones(2, 4))",
    "torch.sparse.mm(made, torch.ones(3, 4)) + torch.ones(3, 4)",
    "torch.spmm(made, torch.ones(4, 3))",
    "made @ torch.ones(3)",
    "made @ torch.ones(2)",
    "torch.sparse.addmm(torch.ones(2, 4), made, torch.ones(3, 4))",
    "torch.sparse.addmm(torch.ones(3, 4), made, torch.ones(3, 4))",
    "made.to_dense() + torch.ones(2, 3)",
    "made.to_dense() + torch.ones(3, 2)",
    "torch.ones(made.size(1)) + torch.ones(2)",
    "made.shape[2]",
)
_SPARSE_ALONE = (
    "torch.sparse_coo_tensor(places, kept, (2, 3, 5))",
    "torch.sparse_coo_tensor(places, torch.ones(4), (2, 3))",
    "torch.sparse_coo_tensor(places, torch.ones(3, 5), (2, 3, 5)).to_dense() + torch.ones(5)",
    "torch.sparse_coo_tensor(places, torch.ones(3, 5), (2, 3))",
    "torch.sparse_coo_tensor(places, torch.ones(3, 5)).to_dense() + torch.ones(5)",
    "torch.sparse_coo_tensor(places, torch.ones(3, 5)).to_dense() + torch.ones(4)",
    "torch.sparse_coo_tensor(places[0], kept, (2, 3))",
    "torch.sparse.softmax(torch.sparse_coo_tensor(places, kept, (2, 3)), dim=1).to_dense() + torch.ones(2)",
)
PROGRAMS = [
    *(_HEAD.format(made) + used + "\n" for made, used in product(_MADE, _USED)),
    *(_HEAD.format(made) for made in _ALONE),
    *(_SPARSE.format(made) + used + "\n" for made, used in product(_SPARSE_MADE, _SPARSE_USED)),
    *(_SPARSE.format(made) for made in _SPARSE_ALONE),
]


@pytest.mark.requires("torch")
@pytest.mark.filterwarnings("ignore")
def test_what_fails_is_found() -> None:
    wrong = [text for text in PROGRAMS if runs(text) != (not errors_of(text))]
    assert wrong == []
