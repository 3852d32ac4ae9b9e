"""tensorflow: tf.signal: frames of a signal, and short-time Fourier transforms.

https://www.tensorflow.org/api_docs/python/tf/signal
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.rules.axes import axis_in, replace_axes
from distml.ops.semantics.tensors import always, unary
from distml.shapes import Dim, Shape
from distml.values import Const, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


def framed(call: Call, shape: Shape, length: Value, step: Value, padded: Value, axis: Value) -> Shape:
    """An axis as windows: one axis of frames, one of what is in each; the end may be padded so that nothing is left over."""
    at, size, by = axis_in(call, axis, shape), call.dim(length), call.dim(step)
    total = None if at is None else call.facts.axis(shape, at)
    if at is None or total is None:
        return call.facts.unknown_shape()
    pads, count = call.flag(padded), call.symbol("frames")
    number, width, stride = (None if dim is None else dim.constant for dim in (total, size, by))
    if pads is not None and number is not None and width is not None and stride:
        count = Dim.of(-(-number // stride) if pads else max(0, 1 + (number - width) // stride))
    inside = call.symbol("length") if size is None else size
    return replace_axes(call, shape, at, 1, (count, inside))


def frame(call: Call, signal: Value, length: Value, step: Value, padded: Value, axis: Value) -> Value:
    """tf.signal.frame: [..., samples] to [..., frames, frame_length]"""
    return call.tensor(framed(call, call.shape(signal), length, step, padded, axis), call.dtype(signal))


def stft(call: Call, signals: Value, length: Value, step: Value, fft_length: Value, padded: Value) -> Value:
    """tf.signal.stft: [..., frames, frequencies]; without a length of its own the transform takes the next power of two."""
    shape = framed(call, call.shape(signals), length, step, padded, Const(-1))
    size = call.dim(length) if call.is_none(fft_length) else call.dim(fft_length)
    known = None if size is None else size.constant
    if known is not None and call.is_none(fft_length):
        known = 1 << (known - 1).bit_length()
    bins = call.symbol("frequencies") if known is None else Dim.of(known // 2 + 1)
    if shape.dims is None:
        return call.unranked("complex")
    return call.tensor(Shape((*shape.dims[:-1], bins)), "complex")


def window(call: Call, length: Value) -> Value:
    """tf.signal.hann_window: one number for each place"""
    return call.tensor([call.dim(length)], "float")


bind(frame, "signal frame_length frame_step pad_end=False -pad_value=0 axis=-1 -name=None", "tensorflow.signal.frame")
bind(
    stft,
    "signals frame_length frame_step fft_length=None -window_fn=None pad_end=False -name=None",
    "tensorflow.signal.stft",
)
bind(
    window,
    "window_length -periodic=True -dtype='float32' -name=None",
    "tensorflow.signal.hann_window",
    "tensorflow.signal.hamming_window",
)


def halved(call: Call, x: Value, length: Value) -> Value:
    """tf.signal.rfft: half of the frequencies and the first, along the last axis."""
    shape = call.facts.shape(call.shape(x))
    size = call.facts.axis(shape, -1)
    if call.is_none(length) is not True:
        given = call.sizes(length)
        size = given[0] if given is not None and len(given) == 1 else None
    if shape.dims is None:
        return call.unranked("complex")
    known = None if size is None else size.constant
    return call.tensor([*shape.dims[:-1], None if known is None else Dim.of(known // 2 + 1)], "complex")


def mel(call: Call, bins: Value, frequencies: Value) -> Value:
    """tf.signal.linear_to_mel_weight_matrix: [frequencies, bins]"""
    return call.tensor([call.dim(frequencies), call.dim(bins)], "float")


bind(
    unary(always("complex")),
    "input -name=None",
    *(f"tensorflow.signal.{name}" for name in "fft ifft fft2d ifft2d fft3d".split()),
)
bind(unary(), "x -axes=None -name=None", "tensorflow.signal.fftshift", "tensorflow.signal.ifftshift")
bind(unary(), "log_mel_spectrograms -name=None", "tensorflow.signal.mfccs_from_log_mel_spectrograms")
bind(halved, "input_tensor fft_length=None -name=None", "tensorflow.signal.rfft")
bind(
    mel,
    "num_mel_bins=20 num_spectrogram_bins=129 -sample_rate=8000 -lower_edge_hertz=125.0 -upper_edge_hertz=3800.0"
    " -dtype='float32' -name=None",
    "tensorflow.signal.linear_to_mel_weight_matrix",
)
