"""Bytes (uint8): no kind of their own in PyTorch, where they are a mask in an index, and integers for everything else."""

from __future__ import annotations

import numpy as np
import pytest

from interp.programs import errors_by_function

HEAD = """import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""
PICTURES = [
    "torch.zeros(3, 8, 8, dtype=torch.uint8)",
    "torch.zeros(3, 8, 8).byte()",
    "torch.zeros(3, 8, 8).to(torch.uint8)",
    "torch.zeros(3, 8, 8).type(torch.uint8)",
    "torch.randint(0, 256, (3, 8, 8), dtype=torch.uint8)",
    "torch.ByteTensor(3, 8, 8).zero_()",
    "torch.from_numpy(np.zeros((8, 8, 3), dtype=np.uint8)).permute(2, 0, 1)",
    "torch.tensor(np.zeros((8, 8, 3), np.uint8).transpose(2, 0, 1))",
    "torch.as_tensor(np.zeros((3, 8, 8), dtype='uint8')).clone()",
    "torch.from_numpy(np.zeros((3, 8, 8)).astype('uint8'))",
    "torch.stack([torch.zeros(8, 8, dtype=torch.uint8)] * 3)",
    "torch.zeros_like(torch.zeros(3, 8, 8), dtype=torch.uint8)",
    "torch.cat([torch.zeros(1, 8, 8).byte(), torch.zeros(2, 8, 8).byte()])",
]
USES = [
    "nn.Conv2d(3, 4, 3)(V[None])",
    "nn.Linear(8, 4)(V)",
    "nn.BatchNorm2d(3)(V[None])",
    "V @ torch.zeros(8, 5)",
    "V.mean()",
    "F.softmax(V, dim=0)",
    "V.div_(255)",
    "nn.Conv2d(3, 4, 3)(V[None].float())",
    "nn.Conv2d(3, 4, 3)(V[None] / 255)",
    "nn.Linear(8, 4)(V.to(torch.float32))",
    "V.float().mean()",
    "V.sum()",
    "V + 1",
    "V.max()",
    "torch.zeros(3, 8, 8)[V]",
    "torch.zeros(3)[V[:, 0, 0]]",
    "V.view(-1).bincount()",
    "F.cross_entropy(torch.zeros(3, 5), V[:, 0, 0])",
    "F.interpolate(V[None], scale_factor=2)",
    "V.masked_fill(V > 1, 0)",
    "V & 1",
    "~V",
    "nn.Embedding(256, 2)(V.long())",
]
DIVIDED = {
    "uint8": [
        "V / 255",
        "V / 255.0",
        "V * 2.0",
        "V - 0.5",
        "V ** 0.5",
        "(V / 255).astype('float32')",
        "V.astype(np.float32) / 255",
    ],
    "int16": ["V / 255", "2.0 * V"],
}


@pytest.mark.requires("torch")
def test_what_takes_no_bytes() -> None:
    """Nothing is told of what runs, and most of what raises is found."""
    import torch

    text, raising = HEAD, set()
    for place, (picture, use) in enumerate((picture, use) for picture in PICTURES for use in USES):
        text += f"def f{place}():\n    v = {picture}\n    return {use.replace('V', 'v')}\n"
        names = {
            "torch": torch,
            "nn": torch.nn,
            "F": torch.nn.functional,
            "np": np,
            "v": eval(picture, {"torch": torch, "np": np}),
        }
        try:
            eval(use.replace("V", "v"), names)
        except (RuntimeError, IndexError):
            raising.add(f"f{place}")
    found = errors_by_function(text)
    assert not {*found} - raising
    assert len(found) > 0.95 * len(raising)


@pytest.mark.requires("torch")
def test_bytes_and_numbers_of_numpy() -> None:
    """Narrow integers beside floats, and divided, are float64 for NumPy, which a layer with float32 does not take."""
    forms = [(dtype, form) for dtype, those in DIVIDED.items() for form in those]
    text, real = HEAD, set()
    for place, (dtype, form) in enumerate(forms):
        text += f"def f{place}():\n    v = np.ones((2, 3), '{dtype}')\n    x = {form.replace('V', 'v')}\n"
        text += "    return nn.Linear(3, 4)(torch.from_numpy(x))\n"
        if eval(form.replace("V", "v"), {"np": np, "v": np.ones((2, 3), dtype)}).dtype == np.float64:
            real.add(f"f{place}")
    assert {*errors_by_function(text)} == real
