"""Pictures as transforms see them: their size and channels."""

import torch
from _elsewhere import resolved
from PIL.Image import Image as Picture


def unknown_size():
    """A number of pixels."""
    pixels = resolved()
    return int(pixels)


def sizes_of(image):
    """Channels, height and width; None where that is not known."""
    if isinstance(image, torch.Tensor):
        return tuple(image.shape[-3:])
    if isinstance(image, Picture):
        return image.sizes
    return None


def resized(image, height, width, channels=None):
    """An image of the same kind with another size."""
    if isinstance(image, torch.Tensor):
        before = image.shape[:-2] if channels is None else (*image.shape[:-3], channels)
        return image.new_empty((*before, height, width))
    if isinstance(image, Picture):
        return Picture(height, width, image.sizes[0] if channels is None else channels)
    return resolved(image)
