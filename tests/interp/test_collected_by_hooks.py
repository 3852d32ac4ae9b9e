"""Outputs that a decorator collects: it puts hooks on the layers of a class once, and switches them on by a context variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from interp.differential import compare_runs

PROGRAM = """
from contextvars import ContextVar
from functools import wraps

import torch
from torch import nn

active = ContextVar("collector", default=None)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x), x.mean(-1)


class Recorder:
    def __init__(self, cls, index=0):
        self.cls, self.index = cls, index


def install(module, key, index):
    def hook(module, args, output):
        collected = active.get()
        if collected is None or key not in collected.keys():
            return
        if key == "states" and len(collected[key]) == 0:
            collected[key].append(args[0])
        if not isinstance(output, tuple):
            collected[key].append(output)
        elif output[index] is not None:
            collected[key].append(output[index])

    module.register_forward_hook(hook)


def recurse(parent, tasks):
    for name, module in parent.named_children():
        recurse(module, tasks)
    for key, recorder in tasks:
        if isinstance(parent, recorder.cls):
            install(parent, key, recorder.index)


def capture(func):
    @wraps(func)
    def wrapper(self, *args, **kwargs):
        collected = {k: [] for k in self._recorded if kwargs.pop(f"output_{k}", False)}
        if len(collected) > 0 and not getattr(self, "_installed", False):
            tasks = [(k, r if isinstance(r, Recorder) else Recorder(r)) for k, r in self._recorded.items()]
            recurse(self, tasks)
            setattr(self, "_installed", True)
        token = active.set(collected)
        try:
            out = func(self, *args, **kwargs)
        finally:
            active.reset(token)
        for key in collected:
            out[key] = tuple(collected[key])
        return out

    return wrapper


class Net(nn.Module):
    _recorded = {"states": Layer, "means": Recorder(Layer, 1)}

    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([Layer(width) for _ in range(depth)])
        self.head = nn.Linear(width, 7)

    @capture
    def forward(self, x):
        for layer in self.layers:
            x, _ = layer(x)
        return {"last": self.head(x)}


net = Net(32, 3)
"""
ASKED = [
    'len(net(torch.zeros(2, 9, 32), output_states=True)["states"])',
    'net(torch.zeros(2, 9, 32), output_states=True)["states"][-1]',
    'torch.cat(net(torch.zeros(2, 9, 32), output_states=True, output_means=True)["means"])',
    '"states" in net(torch.zeros(2, 9, 32), output_means=True)',
    'net(torch.zeros(5, 32))["last"]',
    'torch.stack([s for x in (torch.zeros(4, 32), torch.ones(4, 32)) for s in net(x, output_states=True)["states"]])',
]


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_collected(asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_runs(f"{PROGRAM}reveal_shape({asked})\n", tmp_path, monkeypatch)[1] == []
