"""PIL.Image: https://pillow.readthedocs.io/en/stable/reference/Image.html: sizes and channels of pictures."""

from _arrays import is_array, numbers
from _elsewhere import resolved

_CHANNELS = {
    "1": 1,
    "L": 1,
    "P": 1,
    "I": 1,
    "F": 1,
    "LA": 2,
    "RGB": 3,
    "YCbCr": 3,
    "LAB": 3,
    "HSV": 3,
    "RGBA": 4,
    "CMYK": 4,
}


def _some():
    """A number of pixels or channels."""
    pixels = resolved()
    return int(pixels)


class Image:
    """A picture."""

    def __init__(self, height, width, channels):
        self.sizes = (channels, height, width)

    @property
    def size(self):
        """Width and height."""
        return self.sizes[2], self.sizes[1]

    @property
    def width(self):
        return self.sizes[2]

    @property
    def height(self):
        return self.sizes[1]

    def convert(self, mode=None, *args, **kwargs):
        channels = _CHANNELS[mode] if mode in _CHANNELS else _some()
        return Image(self.sizes[1], self.sizes[2], channels)

    def resize(self, size, *args, **kwargs):
        return Image(size[1], size[0], self.sizes[0])

    def crop(self, box=None):
        if box is None:
            return self.copy()
        left, upper, right, lower = box
        return Image(lower - upper, right - left, self.sizes[0])

    def copy(self):
        return Image(self.sizes[1], self.sizes[2], self.sizes[0])

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None

    def __array__(self, dtype=None, copy=None):
        channels, height, width = self.sizes
        return numbers(height, width) if channels == 1 else numbers(height, width, channels)

    def __getattr__(self, name):
        return resolved(name)


def open(fp, *args, **kwargs):
    """A picture of any size."""
    return Image(_some(), _some(), _some())


def new(mode, size, color=0):
    """A picture of one color."""
    return Image(size[1], size[0], _CHANNELS[mode] if mode in _CHANNELS else _some())


def fromarray(obj, mode=None):
    """A picture of an array: rows, columns and perhaps channels."""
    if is_array(obj) and mode is None:
        if obj.ndim == 2:
            return Image(obj.shape[0], obj.shape[1], 1)
        if obj.ndim == 3:
            return Image(obj.shape[0], obj.shape[1], obj.shape[2])
    return Image(_some(), _some(), _some())


def __getattr__(name):
    return resolved(name)
