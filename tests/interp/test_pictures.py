"""Pictures of Pillow: their sizes on the way to arrays and tensors. Each size was taken from Pillow 12 and torchvision 0.28."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, revealed

HEAD = """
import numpy as np
import torch
from PIL import Image, ImageOps
from torchvision import transforms as T

p = Image.new("RGB", (10, 20))
g = Image.fromarray(np.zeros((6, 7), dtype=np.uint8))
c = Image.fromarray(np.zeros((6, 7, 3), dtype=np.uint8))
some = Image.open("picture.png")
"""
SIZES = {
    "np.array(p)": "ndarray[20, 10, 3]",
    "np.asarray(p.convert('L'), dtype=np.float32)": "ndarray[20, 10]",
    "np.array(p.convert('RGBA'))": "ndarray[20, 10, 4]",
    "np.array(p.resize((4, 5)))": "ndarray[5, 4, 3]",
    "np.array(p.crop((1, 2, 6, 9)))": "ndarray[7, 5, 3]",
    "np.array(g)": "ndarray[6, 7]",
    "np.array(c.copy())": "ndarray[6, 7, 3]",
    "np.array(Image.new('L', size=(3, 4)))": "ndarray[4, 3]",
    "np.array(some.convert('RGB').resize((8, 9)))": "ndarray[9, 8, 3]",
    "p.size": "(10, 20)",
    "(p.width, c.height)": "(10, 6)",
    "isinstance(p, Image.Image)": "True",
    "T.ToTensor()(p)": "Tensor[3, 20, 10]",
    "T.ToTensor()(g)": "Tensor[1, 6, 7]",
    "T.ToTensor()(np.zeros((5, 6, 3)))": "Tensor[3, 5, 6]",
    "T.ToTensor()(np.zeros((5, 6)))": "Tensor[1, 5, 6]",
    "T.ToTensor()(T.Resize((8, 9))(some.convert('RGB')))": "Tensor[3, 8, 9]",
    "torch.from_numpy(np.array(p)).permute(2, 0, 1)": "Tensor[3, 20, 10]",
    "ImageOps.exif_transpose(p)": "unknown",
    "p.info": "unknown",
}


@pytest.mark.parametrize("expression", SIZES)
def test_the_size_of_a_picture(expression: str) -> None:
    assert revealed(f"{HEAD}reveal_shape({expression})") == [SIZES[expression]]


def test_a_picture_of_a_file_has_any_size() -> None:
    assert not errors_of(
        f"{HEAD}torch.zeros(5, 4)[:, : some.width] + torch.zeros(some.size)\nnp.array(some) + np.zeros((3, 4, 5))"
    )
    assert [each.code for each in errors_of(f"{HEAD}torch.zeros(2, 9, 8) + T.ToTensor()(T.CenterCrop(7)(some))")] == [
        "SHP102"
    ]
