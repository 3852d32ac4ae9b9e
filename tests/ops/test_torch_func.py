"""torch.func, collated batches and generators of random numbers: short programs, checked and run for real."""

from __future__ import annotations

from itertools import product

import pytest

from interp.programs import errors_of, runs

_HEAD = """import random
import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, stack_module_state, vmap

"""
_MAPPED = """made = vmap(lambda a, b: {}, in_dims={}, out_dims={})(torch.ones(3, 4, 5), torch.ones(4, 5))
made + torch.ones({})
"""
_STATES = """models = [nn.Sequential(nn.Linear(6, 8), nn.Linear(8, {out})) for _ in range(3)]
params, buffers = stack_module_state(models)


def call(params, buffers, x):
    return functional_call(models[0], (params, buffers), ({x},))


made = vmap(call, in_dims=(0, 0, {dim}))(params, buffers, torch.ones({given}))
made + torch.ones(3, 7, 4)
"""
_GRADIENT = "made = {}(lambda a, b: {}, argnums={})(torch.ones(3), torch.ones(3, 4))\nmade + torch.ones({})\n"
_SLOPES = """made = {}(lambda a, b: {}, argnums={})(torch.ones(3), torch.ones(3, 4))
made{} + torch.ones({})
"""
_MAPPED_SLOPES = """slopes = vmap({}(lambda a, b: {{'x': a * b[:, 0]}}, argnums=(0, 1)))
slopes(torch.ones(7, 3), torch.ones(7, 3, 4))['x'][1] + torch.ones({})
"""
_COLLATED = """from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

draw = random.Random(0)
rows = [([draw.random() for _ in range(draw.randint(2, 9))], draw.randrange(3)) for _ in range(24)]


def collate(batch):
    return pad_sequence([torch.tensor(words) for words, _ in batch], batch_first=True), torch.tensor([k for _, k in batch])


for words, kinds in DataLoader(rows, batch_size=8, collate_fn=collate):
    {}
"""
PROGRAMS = [
    *(
        _HEAD + _MAPPED.format(body, dims, out, f"({shape})")
        for body, dims, out, shape in product(
            ("a + b", "a.sum() * b", "(a @ b.T).sum(-1)"),
            ("(0, None)", "(1, 0)", "(2, 1)", "0"),
            (0, -1),
            ("4, 5", "5, 3"),
        )
    ),
    *(
        _HEAD + _STATES.format(out=out, x=x, dim=dim, given=given)
        for out, x, (dim, given) in product(
            (4, 5), ("x", "x[0]"), (("None", "(7, 6)"), ("0", "(3, 7, 6)"), ("0", "(7, 3, 6)"), ("1", "(7, 3, 6)"))
        )
    ),
    *(
        _HEAD + _GRADIENT.format(function, body, numbers, shape)
        for function, body, numbers, shape in product(
            ("grad", "jacrev", "jacfwd", "hessian"), ("(a @ b).sum()", "a @ b"), (0, 1), ("3", "3, 4", "4, 3", "5")
        )
    ),
    *(
        _HEAD + _SLOPES.format(function, body, numbers, picked, shape)
        for function in ("jacrev", "jacfwd", "hessian")
        for body, numbers, picked in (
            ("a @ b", "(0, 1)", "[1]" if function != "hessian" else "[1][0]"),
            ("(a @ b, a)", "0", "[1]"),
            ("{'one': a @ b, 'two': b}", "(1,)", "['two'][0]" if function != "hessian" else "['two'][0][0]"),
        )
        for shape in ("3, 1", "4, 3", "4, 3, 4", "3, 4, 3, 4", "5")
    ),
    *(
        _HEAD + _MAPPED_SLOPES.format(function, shape)
        for function, shape in product(("jacrev", "jacfwd"), ("7, 3, 3, 4", "3, 4", "7, 3", "3, 3"))
    ),
    *(
        _HEAD + _COLLATED.format(line)
        for line in (
            "words.T[:, :4] + kinds",
            "words.sum(1) + kinds",
            "nn.Embedding(9, 2)(kinds).squeeze(1) @ words",
            "kinds[:, 0]",
        )
    ),
]


@pytest.mark.requires("torch")
@pytest.mark.filterwarnings("ignore")
def test_what_fails_is_found() -> None:
    wrong = [text for text in PROGRAMS if runs(text) != (not errors_of(text))]
    assert wrong == []
