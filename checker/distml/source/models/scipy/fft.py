"""scipy.fft: https://docs.scipy.org/doc/scipy/reference/fft.html; what NumPy has is as there."""

from _arrays import same_size
from numpy.fft import (
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    irfft,
    rfft,
    rfftfreq,
)


def dct(x, type=2, n=None, axis=-1, *args, **options):
    """dct(x): as many numbers"""
    return same_size(x) if n is None else fft(x, n, axis)


idct = dst = idst = dct
