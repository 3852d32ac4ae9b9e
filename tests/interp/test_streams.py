"""What is saved into memory is what is loaded from it, as it was when it was saved: torch, NumPy and pickle against real runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from interp.differential import compare_runs
from interp.programs import revealed

HEAD = """
import io
import pickle

import numpy as np
import torch
from torch import nn

f = io.BytesIO()
"""
PROGRAMS = {
    "a tensor": "torch.save(torch.zeros(2, 3), f)\nf.seek(0)\nreveal_shape(torch.load(f))",
    "what it was": "d = {'a': torch.zeros(5)}\ntorch.save(d, f)\nd['b'] = 1\nf.seek(0)\nreveal_shape(torch.load(f))",
    "another each time": (
        "torch.save({'a': [1]}, f)\nf.seek(0)\nx = torch.load(f)\nx['a'].append(2)\nf.seek(0)\nreveal_shape(torch.load(f)['a'])"
    ),
    "weights": (
        "torch.save(nn.Linear(3, 7).state_dict(), f)\nf.seek(0)\n"
        "reveal_shape(torch.load(f, map_location='cpu')['weight'])"
    ),
    "a model": "pickle.dump(nn.Linear(3, 7), f)\nf.seek(0)\nreveal_shape(pickle.load(f)(torch.zeros(2, 3)))",
    "bytes": "torch.save(torch.zeros(4), f)\nreveal_shape(torch.load(io.BytesIO(f.getvalue())))",
    "what is read": "torch.save(torch.zeros(4), f)\nf.seek(0)\nreveal_shape(torch.load(io.BytesIO(f.read())))",
    "begun anew": (
        "torch.save(torch.zeros(4), f)\nf.seek(0)\nf.truncate()\n"
        "torch.save(torch.zeros(5), f)\nf.seek(0)\nreveal_shape(torch.load(f))"
    ),
    "one after the other": (
        "for n in range(3):\n    np.save(f, np.zeros(n + 1))\nf.seek(0)\n"
        "reveal_shape(np.concatenate([np.load(f) for _ in range(3)]))"
    ),
    "a manager": (
        "with io.BytesIO() as g:\n    pickle.dump((1, np.zeros((2, 5))), g)\n    g.seek(0)\n    reveal_shape(pickle.load(g)[1])"
    ),
    "by pickle": "reveal_shape(pickle.loads(pickle.dumps({'w': np.zeros((3, 4))}))['w'])",
    "in a function": (
        "def copied(x):\n    g = io.BytesIO()\n    torch.save(x, g)\n"
        "    g.seek(0)\n    return torch.load(g, weights_only=False)\n"
        "reveal_shape(copied(torch.ones(3, 2)))\nreveal_shape(copied([torch.ones(4)]))"
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_loaded(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_runs(f"{HEAD}{PROGRAMS[name]}\n", tmp_path, monkeypatch)[1] == []


OPEN = {
    "given away": "torch.save(torch.zeros(4), f)\nelsewhere(f)\nf.seek(0)\nreveal_shape(torch.load(f))",
    "other bytes": "torch.save(torch.zeros(4), f)\nf.write(b'a')\nf.seek(0)\nreveal_shape(torch.load(f))",
    "written over": "np.save(f, np.zeros(4))\nf.seek(0)\nnp.save(f, np.zeros(5))\nf.seek(0)\nreveal_shape(np.load(f))",
    "at its end": "torch.save(torch.zeros(4), f)\nreveal_shape(torch.load(f))",
    "somewhere": "torch.save(torch.zeros(4), f)\nf.seek(20)\nreveal_shape(torch.load(f))",
    "two in one": "torch.save(torch.zeros(4), f)\ntorch.save(torch.zeros(5), f)\nf.seek(0)\nreveal_shape(torch.load(f))",
    "bytes of elsewhere": "reveal_shape(torch.load(io.BytesIO(elsewhere())))",
    "a file": "reveal_shape(torch.load('model.pt'))",
    "an archive": "np.savez(f, a=np.zeros(3))\nf.seek(0)\nreveal_shape(np.load(f))",
}


@pytest.mark.parametrize("name", OPEN)
def test_of_what_may_be_something_else_nothing_is_known(name: str) -> None:
    assert revealed(f"{HEAD}{OPEN[name]}\n") == ["unknown"]
