"""scipy.signal.windows: https://docs.scipy.org/doc/scipy/reference/signal.windows.html"""

from _arrays import numbers
from _elsewhere import resolved


def _of_size(M, *args, **options):
    """So many numbers."""
    return numbers(M) if isinstance(M, int) else resolved(M)


hann = hamming = blackman = blackmanharris = bartlett = boxcar = cosine = flattop = nuttall = parzen = triang = _of_size
barthann = bohman = chebwin = exponential = gaussian = general_gaussian = kaiser = tukey = taylor = _of_size


def get_window(window, Nx, fftbins=True):
    """get_window(window, Nx): Nx numbers"""
    return _of_size(Nx)
