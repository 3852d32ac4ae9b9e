"""torchvision.transforms.v2: https://docs.pytorch.org/vision/stable/transforms.html#v2-api-reference-recommended

The transforms of version 1 under the same names, and more; of several inputs at once nothing is known.
"""

import torch
from _elsewhere import resolved
from torchvision.pictures import Picture, resized, sizes_of
from torchvision.transforms import *
from torchvision.transforms import Compose as _First
from torchvision.transforms import _Same


class Compose(_First):
    """Compose(transforms)"""

    def __call__(self, *inputs):
        return super().__call__(inputs[0]) if len(inputs) == 1 else resolved(inputs)


class ToImage(torch.nn.Module):
    """ToImage(): a tensor of the picture's own numbers, channels first"""

    def forward(self, inpt):
        if isinstance(inpt, Picture):
            return torch.zeros(inpt.sizes, dtype=torch.uint8)
        return inpt if isinstance(inpt, torch.Tensor) else resolved(inpt)


class ToDtype(torch.nn.Module):
    """ToDtype(dtype, scale=False)"""

    def __init__(self, dtype, scale=False):
        super().__init__()
        self.dtype = dtype

    def forward(self, inpt):
        if isinstance(inpt, torch.Tensor):
            return torch.zeros(inpt.shape, dtype=None if isinstance(self.dtype, dict) else self.dtype)
        return inpt if isinstance(inpt, Picture) else resolved(inpt)


class ToPureTensor(_Same):
    """ToPureTensor()"""


class Identity(_Same):
    """Identity()"""


class GaussianNoise(_Same):
    """GaussianNoise(mean=0.0, sigma=0.1, clip=True)"""


class JPEG(_Same):
    """JPEG(quality)"""


class RandomChannelPermutation(_Same):
    """RandomChannelPermutation()"""


class RandomPhotometricDistort(_Same):
    """RandomPhotometricDistort(...)"""


class RGB(torch.nn.Module):
    """RGB()"""

    def forward(self, inpt):
        sizes = sizes_of(inpt)
        return resolved(inpt) if sizes is None else resized(inpt, sizes[1], sizes[2], 3)
