"""torch: short-time Fourier transforms and windows.

https://docs.pytorch.org/docs/stable/torch.html#spectral-ops
"""

from __future__ import annotations

from distml.ops.call import FALSE, NONE, TRUE, Call
from distml.ops.registry import op
from distml.ops.rules.sizes import nonnegative
from distml.shapes import Dim, Shape
from distml.values import Value

WINDOWS = (
    *("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming"),
    *("hamming", "hann", "kaiser", "nuttall"),
)


@op(*(f"torch.signal.windows.{name}" for name in WINDOWS))
def signal_window(call: Call, M: Value, *parameters: Value, **options: Value) -> Value:
    """torch.signal.windows.hann(M)"""
    return call.tensor([nonnegative(call, call.dim(M))], "float")


@op("torch.stft", "torch.Tensor.stft", "torch.functional.stft")
def stft(
    call: Call,
    input: Value,
    n_fft: Value,
    hop_length: Value = NONE,
    win_length: Value = NONE,
    window: Value = NONE,
    center: Value = TRUE,
    pad_mode: Value = NONE,
    normalized: Value = FALSE,
    onesided: Value = NONE,
    return_complex: Value = NONE,
    align_to_window: Value = NONE,
) -> Value:
    """torch.stft(input, n_fft, hop_length=None, ...): [batch, frequencies, frames]"""
    shape = call.of_rank(call.shape(input), 1, 2)
    points = call.dim(n_fft)
    step = points // 4 if call.is_none(hop_length) and points is not None else call.dim(hop_length)
    _require_window(call, window, points, win_length)
    length = call.facts.axis(shape, -1)
    last = [_frequencies(call, points, onesided, input), _frames(call, length, points, step, center)]
    whole = call.flag(return_complex)
    parts = [] if whole else [Dim.of(2)]
    if shape.rank is None or whole is None:
        return call.unranked("complex" if whole else None)
    return call.tensor([*shape.head[:-1], *last, *parts], "complex" if whole else "float")


def _require_window(call: Call, window: Value, points: Dim | None, win_length: Value) -> None:
    """The window is a vector of win_length elements, of n_fft without one."""
    if call.is_none(window) is not False:
        return
    found = call.of_rank(call.shape(window), 1, what="a window")
    wanted = points if call.is_none(win_length) else call.dim(win_length)
    call.require_equal(
        wanted,
        found.head[0],
        "SHP301",
        f"{call.text} needs a window of {{left}} elements, gets {call.show(found)}",
    )


def _frequencies(call: Call, points: Dim | None, onesided: Value, input: Value) -> Dim | None:
    half = call.flag(onesided)
    if call.is_none(onesided):
        kind = call.dtype(input)
        half = None if kind is None else kind != "complex"
    if points is None or half is None:
        return None
    return points // 2 + 1 if half else points


def _frames(call: Call, length: Dim | None, points: Dim | None, step: Dim | None, center: Value) -> Dim | None:
    padded = call.flag(center)
    if length is None or points is None or step is None or padded is None or step.constant == 0:
        return None
    # Centered input is padded by half a window at both ends.
    span = length + (points // 2) * 2 - points if padded else length - points
    call.require_positive(
        span + 1, "SHP403", f"{call.text}: a window of {points} points is longer than the input of {length}"
    )
    return span // step + 1


@op("torch.istft", "torch.Tensor.istft", "torch.functional.istft")
def istft(
    call: Call,
    input: Value,
    n_fft: Value,
    hop_length: Value = NONE,
    win_length: Value = NONE,
    window: Value = NONE,
    center: Value = TRUE,
    normalized: Value = FALSE,
    onesided: Value = NONE,
    length: Value = NONE,
    return_complex: Value = FALSE,
) -> Value:
    """torch.istft(input, n_fft, hop_length=None, ...): [batch, samples]"""
    kind = "complex" if call.flag(return_complex) else "float" if call.flag(return_complex) is False else None
    shape = call.of_rank(call.shape(input), 2, 3)
    if shape.dims is None:
        return call.unranked(kind)
    points = call.dim(n_fft)
    _require_window(call, window, points, win_length)
    _require_frequencies(call, shape, points, None if call.is_none(onesided) else call.flag(onesided))
    step = points // 4 if call.is_none(hop_length) and points is not None else call.dim(hop_length)
    return call.tensor(Shape((*shape.head[:-2], _samples(call, shape.head[-1], points, step, center, length))), kind)


def _require_frequencies(call: Call, shape: Shape, points: Dim | None, half: bool | None) -> None:
    """One-sided spectra have n_fft // 2 + 1 frequencies, full ones n_fft; without word from the caller
    either will do."""
    if points is None:
        return
    allowed = [points // 2 + 1] * (half is not False) + [points] * (not half)
    rows = shape.head[-2]
    if all(rows.differs(count) for count in allowed):
        wanted = " or ".join(repr(count) for count in allowed)
        call.fail("SHP301", f"{call.text} needs {wanted} frequencies, gets {rows} ({call.show(shape)})")


def _samples(call: Call, frames: Dim, points: Dim | None, step: Dim | None, center: Value, length: Value) -> Dim:
    given = call.is_none(length)
    if not given:
        return (None if given is None else call.dim(length)) or call.symbol("samples")
    padded = call.flag(center)
    if points is None or step is None or padded is None:
        return call.symbol("samples")
    total = (frames - 1) * step + points
    return total - (points // 2) * 2 if padded else total
