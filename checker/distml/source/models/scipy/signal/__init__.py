"""scipy.signal: https://docs.scipy.org/doc/scipy/reference/signal.html"""

import numpy as np
from _arrays import as_array, is_array, numbers, same_size
from _elsewhere import resolved
from scipy.signal.spectra import coherence, csd, istft, spectrogram, stft, welch
from scipy.signal.windows import get_window


def _convolved(first, second, mode):
    """Full, as large as the first, or only where one lies inside the other."""
    if mode == "full":
        return numbers(*(a + b - 1 for a, b in zip(first.shape, second.shape)))
    if mode == "same":
        return numbers(*first.shape)
    return resolved(mode) if mode != "valid" else numbers(*(abs(a - b) + 1 for a, b in zip(first.shape, second.shape)))


def convolve(in1, in2, mode="full", method="auto"):
    """convolve(in1, in2, mode="full"): as many axes in both"""
    first, second = as_array(in1), as_array(in2)
    if not is_array(first) or not is_array(second):
        return resolved(first, second)
    axes_of_in1, axes_of_in2 = first.ndim, second.ndim
    assert axes_of_in1 == axes_of_in2
    return _convolved(first, second, mode)


correlate = convolve


def fftconvolve(in1, in2, mode="full", axes=None):
    """fftconvolve(in1, in2, mode="full"): as many axes in both"""
    return convolve(in1, in2, mode) if axes is None else resolved(in1, in2, axes)


oaconvolve = fftconvolve


def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    """convolve2d(in1, in2, mode="full"): two axes in both"""
    first, second = as_array(in1), as_array(in2)
    if not is_array(first) or not is_array(second):
        return resolved(first, second)
    axes_of_in1, axes_of_in2 = first.ndim, second.ndim
    assert axes_of_in1 == 2 and axes_of_in2 == 2
    return _convolved(first, second, mode)


correlate2d = convolve2d


def lfilter(b, a, x, axis=-1, zi=None):
    """lfilter(b, a, x): as many numbers as x"""
    return same_size(x) if zi is None else (same_size(x), resolved(zi))


def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    """filtfilt(b, a, x): as many numbers as x, more than are padded"""
    b, a, x = as_array(b), as_array(a), as_array(x)
    plain = padtype == "odd" and padlen is None and method == "pad" and isinstance(axis, int)
    if is_array(b) and is_array(a) and is_array(x) and plain:
        length, padding = x.shape[axis], 3 * max(len(a), len(b))
        assert length > padding
    return same_size(x)


def sosfilt(sos, x, axis=-1, zi=None):
    """sosfilt(sos, x): as many numbers as x"""
    return same_size(x) if zi is None else (same_size(x), resolved(zi))


def sosfiltfilt(sos, x, *args, **options):
    """sosfiltfilt(sos, x): as many numbers as x"""
    return same_size(x)


def _designed(N, btype, output):
    """Coefficients of a filter: one more than the order, twice the order for bands."""
    bands = btype in ("band", "bandpass", "bandstop", "pass", "stop")
    count = N * (2 if bands else 1)
    if output == "sos":
        return numbers((count + 1) // 2, 6) if isinstance(N, int) and isinstance(btype, str) else resolved()
    known = output == "ba" and isinstance(N, int) and isinstance(btype, str)
    return (numbers(count + 1), numbers(count + 1)) if known else resolved(output)


def butter(N, Wn, btype="low", analog=False, output="ba", fs=None):
    """butter(N, Wn, btype="low"): one number more than the order, twice the order for bands"""
    return _designed(N, btype, output)


def cheby1(N, rp, Wn, btype="low", analog=False, output="ba", fs=None):
    """cheby1(N, rp, Wn): as `butter`"""
    return _designed(N, btype, output)


cheby2 = cheby1


def ellip(N, rp, rs, Wn, btype="low", analog=False, output="ba", fs=None):
    """ellip(N, rp, rs, Wn): as `butter`"""
    return _designed(N, btype, output)


def bessel(N, Wn, btype="low", analog=False, output="ba", norm="phase", fs=None):
    """bessel(N, Wn): as `butter`"""
    return _designed(N, btype, output)


def iirnotch(w0, Q, fs=2.0):
    """iirnotch(w0, Q): a filter of the second order"""
    return numbers(3), numbers(3)


iirpeak = iirnotch


def firwin(numtaps, cutoff, **options):
    """firwin(numtaps, cutoff): so many numbers"""
    return numbers(numtaps) if isinstance(numtaps, int) else resolved(numtaps)


def firwin2(numtaps, freq, gain, **options):
    """firwin2(numtaps, freq, gain): so many numbers"""
    return firwin(numtaps, freq)


def lfilter_zi(b, a):
    """lfilter_zi(b, a): a state for each delay"""
    b, a = as_array(b), as_array(a)
    return numbers(max(len(b), len(a)) - 1) if is_array(b) and is_array(a) else resolved(b, a)


def freqz(b, a=1, worN=512, *args, **options):
    """freqz(b, a): a number for each frequency, of one filter"""
    numerator, denominator = as_array(b), as_array([a] if isinstance(a, (int, float)) else a)
    one = is_array(numerator) and is_array(denominator) and numerator.ndim == 1 and denominator.ndim == 1
    plain = one and isinstance(worN, int) and not args and "include_nyquist" not in options and "plot" not in options
    return (numbers(worN), numbers(worN)) if plain else (resolved(worN), resolved(worN))


def sosfreqz(sos, worN=512, *args, **options):
    """sosfreqz(sos): a number for each frequency"""
    return freqz([1], 1, worN, *args, **options)


freqz_sos = sosfreqz


def chirp(t, f0, t1, f1, *args, **options):
    """chirp(t, f0, t1, f1): a number for each time"""
    return same_size(t)


def square(t, duty=0.5):
    """square(t): a number for each time"""
    return same_size(t) if isinstance(duty, (int, float)) else resolved(t, duty)


sawtooth = square


def medfilt(volume, kernel_size=None):
    """medfilt(volume): as many numbers"""
    return same_size(volume)


medfilt2d = wiener = detrend = medfilt


def hilbert(x, N=None, axis=-1):
    """hilbert(x): as many numbers"""
    return np.fft.fft(x, N, axis)


def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    """savgol_filter(x, window_length, polyorder): a window inside x, longer than the order"""
    x = as_array(x)
    if isinstance(window_length, int) and isinstance(polyorder, int):
        assert polyorder < window_length
    if is_array(x) and isinstance(window_length, int) and isinstance(axis, int) and mode == "interp":
        length = x.shape[axis]
        assert window_length <= length
    return same_size(x)


def resample(x, num, t=None, axis=0, window=None, domain="time"):
    """resample(x, num, axis=0): num samples on the axis"""
    x = as_array(x)
    if not is_array(x) or not isinstance(axis, int) or t is not None:
        return resolved(x, num, t)
    sizes = list(x.shape)
    sizes[axis] = num
    return numbers(*sizes)


def _on_axis(x, axis, change):
    """As x, with another number of samples on one axis."""
    x = as_array(x)
    if not is_array(x) or not isinstance(axis, int):
        return resolved(x, axis)
    sizes = list(x.shape)
    sizes[axis] = change(sizes[axis])
    return numbers(*sizes)


def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    """decimate(x, q): every q-th sample of the axis, the first among them"""
    return _on_axis(x, axis, lambda size: -(-size // q)) if isinstance(q, int) else resolved(x, q)


def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    """resample_poly(x, up, down): up for every down samples of the axis, rounded up"""
    if not isinstance(up, int) or not isinstance(down, int):
        return resolved(x, up, down)
    return _on_axis(x, axis, lambda size: -(-size * up // down))


def find_peaks(x, *args, **options):
    """find_peaks(x): where x, in a row, is highest"""
    x = as_array(x)
    if is_array(x):
        axes_of_x = x.ndim
        assert axes_of_x == 1
    return np.empty(int(resolved(x)), dtype=int), resolved(options)


def periodogram(
    x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1
):
    """periodogram(x): half as many frequencies as samples, and one"""
    x = as_array(x)
    if not is_array(x) or nfft is not None or axis != -1 or return_onesided is not True or np.iscomplexobj(x):
        return resolved(x), resolved(x)
    # Of no samples there are no frequencies, and no mistake either.
    count = x.shape[-1] // 2 + 1 if x.shape[-1] else resolved(x)
    return numbers(count), numbers(*x.shape[:-1], count)
