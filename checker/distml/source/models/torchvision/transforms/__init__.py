"""torchvision.transforms: https://docs.pytorch.org/vision/stable/transforms.html

What each of them does to the size of an image. Those that work by chance do it, or not.
"""

import numpy as np
import torch
from _elsewhere import resolved
from torchvision.pictures import Picture, resized, sizes_of, unknown_size


def _pair(size):
    """Height and width of one number or two."""
    if isinstance(size, int):
        return size, size
    return (size[0], size[0]) if len(size) == 1 else (size[0], size[1])


class Compose:
    """Compose(transforms)"""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for each in self.transforms:
            img = each(img)
        return img


class ToTensor:
    """ToTensor(): channels first"""

    def __call__(self, pic):
        if isinstance(pic, np.ndarray):
            if pic.ndim == 3:
                return torch.zeros(pic.shape[2], pic.shape[0], pic.shape[1])
            return torch.zeros(1, *pic.shape)
        if isinstance(pic, Picture):
            return torch.zeros(pic.sizes)
        return resolved(pic)


class PILToTensor:
    """PILToTensor(): channels first"""

    def __call__(self, pic):
        if isinstance(pic, Picture):
            return torch.zeros(pic.sizes, dtype=torch.uint8)
        return resolved(pic)


class ToPILImage:
    """ToPILImage(mode=None)"""

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        if isinstance(pic, torch.Tensor) and pic.dim() == 3 and self.mode is None:
            return Picture(pic.shape[1], pic.shape[2], pic.shape[0])
        return resolved(pic)


class Lambda:
    """Lambda(lambd)"""

    def __init__(self, lambd):
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)


class Normalize(torch.nn.Module):
    """Normalize(mean, std, inplace=False): a mean and a deviation for each channel"""

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean = mean
        self.std = std

    def forward(self, tensor):
        if not isinstance(tensor, torch.Tensor):
            return resolved(tensor)
        mean, std = torch.as_tensor(self.mean), torch.as_tensor(self.std)
        mean = mean.view(-1, 1, 1) if mean.dim() == 1 else mean
        std = std.view(-1, 1, 1) if std.dim() == 1 else std
        tensor = tensor.clone()
        return tensor.sub_(mean).div_(std)


class Resize(torch.nn.Module):
    """Resize(size): one number is the shorter side"""

    def __init__(self, size, interpolation=None, max_size=None, antialias=True):
        super().__init__()
        self.size = size
        self.limited = max_size is not None

    def forward(self, img):
        sizes = sizes_of(img)
        if sizes is None:
            return resolved(img)
        if not isinstance(self.size, int) and len(self.size) == 2:
            return resized(img, self.size[0], self.size[1])
        short = self.size if isinstance(self.size, int) else self.size[0]
        _, height, width = sizes
        if self.limited:
            return resized(img, unknown_size(), unknown_size())
        if height <= width:
            return resized(img, short, int(short * width / height))
        return resized(img, int(short * height / width), short)


class _Fixed(torch.nn.Module):
    def __init__(self, size, *args, **kwargs):
        super().__init__()
        self.size = _pair(size)

    def forward(self, img):
        return resized(img, self.size[0], self.size[1])


class CenterCrop(_Fixed):
    """CenterCrop(size): smaller images are padded"""


class RandomCrop(_Fixed):
    """RandomCrop(size, padding=None, ...)"""


class RandomResizedCrop(_Fixed):
    """RandomResizedCrop(size, ...)"""


class FiveCrop(_Fixed):
    """FiveCrop(size)"""

    def forward(self, img):
        return tuple(resized(img, self.size[0], self.size[1]) for _ in range(5))


class TenCrop(_Fixed):
    """TenCrop(size, vertical_flip=False)"""

    def forward(self, img):
        return tuple(resized(img, self.size[0], self.size[1]) for _ in range(10))


class Pad(torch.nn.Module):
    """Pad(padding): of all sides; left and right, top and bottom; left, top, right, bottom"""

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        self.padding = padding

    def forward(self, img):
        sizes = sizes_of(img)
        if sizes is None:
            return resolved(img)
        if isinstance(self.padding, int):
            across = down = 2 * self.padding
        elif len(self.padding) == 4:
            left, top, right, bottom = self.padding
            across, down = left + right, top + bottom
        else:
            across, down = 2 * self.padding[0], 2 * self.padding[-1]
        return resized(img, sizes[1] + down, sizes[2] + across)


class Grayscale(torch.nn.Module):
    """Grayscale(num_output_channels=1)"""

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        sizes = sizes_of(img)
        return resolved(img) if sizes is None else resized(img, sizes[1], sizes[2], self.num_output_channels)


class _Same(torch.nn.Module):
    """What leaves the size as it is."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, img):
        sizes = sizes_of(img)
        return resolved(img) if sizes is None else resized(img, sizes[1], sizes[2])


class ColorJitter(_Same): ...


class ElasticTransform(_Same): ...


class GaussianBlur(_Same): ...


class RandomAdjustSharpness(_Same): ...


class RandomAffine(_Same): ...


class RandomAutocontrast(_Same): ...


class RandomEqualize(_Same): ...


class RandomErasing(_Same): ...


class RandomGrayscale(_Same): ...


class RandomHorizontalFlip(_Same): ...


class RandomInvert(_Same): ...


class RandomPerspective(_Same): ...


class RandomPosterize(_Same): ...


class RandomSolarize(_Same): ...


class RandomVerticalFlip(_Same): ...


class AutoAugment(_Same): ...


class RandAugment(_Same): ...


class TrivialAugmentWide(_Same): ...


class AugMix(_Same): ...


class ConvertImageDtype(torch.nn.Module):
    """ConvertImageDtype(dtype)"""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return image.to(self.dtype) if isinstance(image, torch.Tensor) else resolved(image)


class RandomRotation(torch.nn.Module):
    """RandomRotation(degrees, interpolation, expand=False, ...)"""

    def __init__(self, degrees, interpolation=None, expand=False, center=None, fill=0):
        super().__init__()
        self.expand = expand

    def forward(self, img):
        sizes = sizes_of(img)
        if sizes is None:
            return resolved(img)
        if self.expand:
            return resized(img, unknown_size(), unknown_size())
        return resized(img, sizes[1], sizes[2])


class RandomApply(torch.nn.Module):
    """RandomApply(transforms, p=0.5)"""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms

    def forward(self, img):
        if resolved():
            for each in self.transforms:
                img = each(img)
        return img


class RandomChoice(torch.nn.Module):
    """RandomChoice(transforms, p=None)"""

    def __init__(self, transforms, p=None):
        super().__init__()
        self.transforms = transforms

    def __call__(self, img):
        return self.transforms[unknown_size()](img)


class RandomOrder(torch.nn.Module):
    """RandomOrder(transforms)"""

    def __init__(self, transforms):
        super().__init__()
        self.transforms = transforms

    def __call__(self, img):
        return resolved(img)
