"""Spectra of signals cut into segments, and signals of spectra.

https://docs.scipy.org/doc/scipy/reference/signal.html#spectral-analysis
"""

import numpy as np
from _arrays import as_array, is_array, numbers
from _elsewhere import resolved


class _Segments:
    """How long segments are and how far apart. None is longer than the signal, unless its window is an array."""

    def __init__(self, x, window, nperseg, noverlap, nfft, shared):
        usual = 256 if nperseg is None else nperseg
        self.known = isinstance(window, (str, tuple)) and isinstance(usual, int)
        self.length = min(usual, x.shape[-1]) if self.known else resolved(nperseg)
        self.overlap = self.length // shared if noverlap is None else noverlap
        # Of no samples there are no segments.
        self.step = max(self.length - self.overlap, 1)
        self.known = self.known and isinstance(self.overlap, int)
        self.frequencies = (self.length if nfft is None else nfft) // 2 + 1


def _cut(x, window, nperseg, noverlap, nfft, options, shared=2):
    """The signal and its segments; None where more than their sizes is asked for."""
    x = as_array(x)
    plain = options.get("axis", -1) == -1 and options.get("return_onesided", True) is True
    if not plain or not is_array(x) or np.iscomplexobj(x) or x.size == 0:
        return x, None
    segments = _Segments(x, window, nperseg, noverlap, nfft, shared)
    return x, segments if segments.known else None


def welch(x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", *args, **options):
    """welch(x): half as many frequencies as a segment has samples, and one"""
    x, segments = _cut(x, window, nperseg, noverlap, nfft, options)
    if segments is None or args:
        return resolved(x), resolved(x)
    return numbers(segments.frequencies), numbers(*x.shape[:-1], segments.frequencies)


def csd(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, *args, **options):
    """csd(x, y): as `welch`, of two signals of one size; another size is not looked into"""
    first, second = as_array(x), as_array(y)
    same = is_array(first) and is_array(second) and first.shape == second.shape and not np.iscomplexobj(second)
    return welch(first, fs, window, nperseg, noverlap, nfft, *args, **options) if same else (resolved(x), resolved(y))


coherence = csd


def spectrogram(x, fs=1.0, window=("tukey", 0.25), nperseg=None, noverlap=None, nfft=None, *args, **options):
    """spectrogram(x): frequencies by segments that lie inside"""
    x, segments = _cut(x, window, nperseg, noverlap, nfft, options, shared=8)
    if segments is None or args:
        return resolved(x), resolved(x), resolved(x)
    times = (x.shape[-1] - segments.overlap) // segments.step
    frequencies = segments.frequencies
    return numbers(frequencies), numbers(times), numbers(*x.shape[:-1], frequencies, times)


def stft(x, fs=1.0, window="hann", nperseg=256, noverlap=None, nfft=None, *args, **options):
    """stft(x): frequencies by segments, of which the first and last lie half outside"""
    x, segments = _cut(x, window, nperseg, noverlap, nfft, options)
    if segments is None or args or "boundary" in options or "padded" in options:
        return resolved(x), resolved(x), resolved(x)
    extended = x.shape[-1] + 2 * (segments.length // 2)
    times = -(-(extended - segments.length) // segments.step) + 1
    frequencies = segments.frequencies
    return numbers(frequencies), numbers(times), numbers(*x.shape[:-1], frequencies, times)


def istft(Zxx, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, *args, **options):
    """istft(Zxx): whole segments, less the halves outside"""
    values = as_array(Zxx)
    if args or options or nfft is not None or not isinstance(window, (str, tuple)) or not is_array(values):
        return resolved(values), resolved(values)
    length = 2 * (values.shape[-2] - 1) if nperseg is None else nperseg
    step = length - (length // 2 if noverlap is None else noverlap)
    samples = length + (values.shape[-1] - 1) * step - 2 * (length // 2)
    return numbers(samples), numbers(*values.shape[:-2], samples)
