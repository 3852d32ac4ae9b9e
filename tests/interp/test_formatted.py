"""A text with braces is what Python makes of it, where its pieces are known."""

from __future__ import annotations

import pytest

from interp.programs import revealed

PIECES = [
    "{n}",
    "{n:d}",
    "{n:03d}",
    "{n:>4}|",
    "{n:x}",
    "{n:{w}d}",
    "{n:,}",
    "{b:>6}",
    "{b:d}",
    "{s}",
    "{s!r}",
    "{s!r:>6}",
    "{s!s:<4}|",
    "{s!a}",
    "{s:^5}|",
    "{n!r}_{s:>3}_{n:02d}",
    "layer{n + 1:d}.{s}",
    "{{{n:d}}}",
]


@pytest.mark.parametrize("piece", PIECES)
def test_known_pieces(piece: str) -> None:
    assert revealed(f'n, w, b, s = 12, 5, True, "ab"\nreveal_shape(f"{piece}")\n') == [
        repr(eval(f'f"{piece}"', {"n": 12, "w": 5, "b": True, "s": "ab"}))
    ]


@pytest.mark.parametrize("piece", ["{s:d}", "{n:s}", "{n:>{u}}", "{u:d}", "{n:99999}", "{x:.2f}"])
def test_unknown_pieces(piece: str) -> None:
    text = f'import random\nn, s, x, u = 12, "ab", 0.5, random.randint(1, 4)\nreveal_shape(f"{piece}")\n'
    assert revealed(text) == ["str"]


def test_names_of_layers() -> None:
    text = """import torch
layers = torch.nn.Sequential()
for i, (a, b) in enumerate([(4, 5), (5, 6)]):
    layers.add_module(f"layer{i:02d}", torch.nn.Linear(a, b))
reveal_shape(layers(torch.zeros(1, 4)))
reveal_shape(layers.layer01.out_features)
"""
    assert revealed(text) == ["Tensor[1, 6]", "6"]
