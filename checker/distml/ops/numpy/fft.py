"""numpy.fft: discrete Fourier transforms. (https://numpy.org/doc/stable/reference/routines.fft.html)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.numpy.results import array
from distml.ops.registry import op
from distml.ops.rules.axes import axis_in, replace_axis
from distml.ops.rules.kinds import element_kind
from distml.ops.rules.sizes import of_items
from distml.shapes import Dim, Shape
from distml.values import Const, Tup

if TYPE_CHECKING:
    from distml.values import Value

LAST = Const(-1)
LAST_TWO = Tup((Const(-2), LAST))


def _half(size: Dim) -> Dim:
    return size // 2 + 1


def _double(size: Dim) -> Dim:
    return (size - 1) * 2


@op(*(f"numpy.fft.{name}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")))
def fft(call: Call, a: Value, n: Value = NONE, axis: Value = LAST, norm: Value = NONE, out: Value = NONE) -> Value:
    """numpy.fft.fft(a, n, axis): https://numpy.org/doc/stable/reference/generated/numpy.fft.fft.html"""
    name = call.name.rpartition(".")[2]
    kind = "float" if name in ("irfft", "hfft") else "complex"
    shape = call.shape(a)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text} needs at least 1 axis, gets a scalar")
    at = axis_in(call, axis, shape)
    if at is None:
        return array(call, replace_axis(call, shape, None, None), kind)
    size = _transformed(call, call.facts.axis(shape, at), n, name)
    return array(call, replace_axis(call, shape, at, size), kind)


def _transformed(call: Call, size: Dim | None, n: Value, name: str) -> Dim | None:
    absent = call.is_none(n)
    if absent is None or size is None:
        return None
    length = size if absent else of_items(call, [n]).head[0]
    message = f"{call.text}: cannot transform {{dim}} points"
    if name in ("irfft", "hfft"):
        length = _double(size) if absent else length
        call.require_positive(length, "SHP403", message)
        return length
    call.require_positive(length, "SHP403", message)
    return _half(length) if name in ("rfft", "ihfft") else length


@op(*(f"numpy.fft.{name}" for name in ("fft2", "ifft2", "rfft2", "irfft2")))
def fft2(call: Call, a: Value, s: Value = NONE, axes: Value = LAST_TWO, norm: Value = NONE, out: Value = NONE) -> Value:
    """numpy.fft.fft2(a, s, axes): https://numpy.org/doc/stable/reference/generated/numpy.fft.fft2.html"""
    return _several(call, a, s, axes)


@op(*(f"numpy.fft.{name}" for name in ("fftn", "ifftn", "rfftn", "irfftn")))
def fftn(call: Call, a: Value, s: Value = NONE, axes: Value = NONE, norm: Value = NONE, out: Value = NONE) -> Value:
    """numpy.fft.fftn(a, s, axes): https://numpy.org/doc/stable/reference/generated/numpy.fft.fftn.html"""
    return _several(call, a, s, axes)


def _several(call: Call, a: Value, s: Value, axes: Value) -> Value:
    name = call.name.rpartition(".")[2]
    kind = "float" if name.startswith("irfft") else "complex"
    shape = call.shape(a)
    sizes = None if call.is_none(s) else call.sizes(s)
    places = _places(call, shape, sizes, axes)
    if shape.dims is None or places is None or call.is_none(s) is None or (sizes is None and not call.is_none(s)):
        return call.unranked(kind) if shape.dims is None else array(call, [None] * len(shape.dims), kind)
    if sizes is not None and len(sizes) != len(places):
        call.fail("SHP301", f"{call.text}: {len(sizes)} sizes for {len(places)} axes of {shape!r}")
    dims: list[Dim | None] = [*shape.dims]
    # The last axis is transformed first; of an axis listed twice the first size stays.
    for i, place in reversed([*enumerate(places)]):
        given = sizes is not None and sizes[i] != -1
        size = sizes[i] if sizes is not None and given else dims[place]
        last = i == len(places) - 1
        if size is not None and last and name.startswith("rfft"):
            size = _half(size)
        elif size is not None and last and name.startswith("irfft") and not given:
            size = _double(size)
        dims[place] = size
    return array(call, dims, kind)


def _places(call: Call, shape: Shape, sizes: tuple[Dim | None, ...] | None, axes: Value) -> tuple[int, ...] | None:
    if shape.dims is None or call.is_none(axes) is None:
        return None
    rank = len(shape.dims)
    if not call.is_none(axes):
        return call.axes(axes, rank)
    count = rank if sizes is None else len(sizes)
    return tuple(range(rank - count, rank)) if count <= rank else None


@op("numpy.fft.fftshift", "numpy.fft.ifftshift")
def fftshift(call: Call, x: Value, axes: Value = NONE) -> Value:
    """numpy.fft.fftshift(x, axes): https://numpy.org/doc/stable/reference/generated/numpy.fft.fftshift.html"""
    shape = call.shape(x)
    if call.is_none(axes) is False:
        call.axes(axes, shape.rank)
    return array(call, shape, element_kind(call, x))


@op("numpy.fft.fftfreq", "numpy.fft.rfftfreq")
def fftfreq(call: Call, n: Value, d: Value = NONE, device: Value = NONE) -> Value:
    """numpy.fft.fftfreq(n, d): https://numpy.org/doc/stable/reference/generated/numpy.fft.fftfreq.html"""
    size = of_items(call, [n]).head[0]
    return array(call, [_half(size) if call.name.endswith("rfftfreq") else size], "float")
