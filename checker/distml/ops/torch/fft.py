"""torch.fft: discrete Fourier transforms. https://docs.pytorch.org/docs/stable/fft.html"""

from __future__ import annotations

from distml.ops.call import MINUS_ONE, NONE, Call
from distml.ops.registry import op
from distml.ops.rules import fft as rules
from distml.ops.torch.view import like
from distml.values import Const, Tup, Value

LAST_TWO = Tup((Const(-2), Const(-1)))
FAMILIES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")


@op(*(f"torch.fft.{name}" for name in FAMILIES))
def transform(
    call: Call, input: Value, n: Value = NONE, dim: Value = MINUS_ONE, norm: Value = NONE, *, out: Value = NONE
) -> Value:
    """torch.fft.fft(input, n=None, dim=-1, norm=None)"""
    return call.tensor(rules.transform(call, call.shape(input), n, dim), rules.result_kind(call.name))


@op(*(f"torch.fft.{name}2" for name in FAMILIES))
def transform_two(
    call: Call, input: Value, s: Value = NONE, dim: Value = LAST_TWO, norm: Value = NONE, *, out: Value = NONE
) -> Value:
    """torch.fft.fft2(input, s=None, dim=(-2, -1), norm=None)"""
    return transform_many(call, input, s, dim)


@op(*(f"torch.fft.{name}n" for name in FAMILIES))
def transform_many(
    call: Call, input: Value, s: Value = NONE, dim: Value = NONE, norm: Value = NONE, *, out: Value = NONE
) -> Value:
    """torch.fft.fftn(input, s=None, dim=None, norm=None)"""
    return call.tensor(rules.transforms(call, call.shape(input), s, dim), rules.result_kind(call.name))


@op("torch.fft.fftshift", "torch.fft.ifftshift")
def shift(call: Call, input: Value, dim: Value = NONE) -> Value:
    """torch.fft.fftshift(input, dim=None)"""
    shape = call.shape(input)
    if call.is_none(dim) is False:
        call.axes(dim, shape.rank)
    return like(call, input, shape)


@op("torch.fft.fftfreq")
def fftfreq(call: Call, n: Value, d: Value = NONE, **options: Value) -> Value:
    """torch.fft.fftfreq(n, d=1.0)"""
    return call.tensor([call.dim(n)], "float")


@op("torch.fft.rfftfreq")
def rfftfreq(call: Call, n: Value, d: Value = NONE, **options: Value) -> Value:
    """torch.fft.rfftfreq(n, d=1.0)"""
    count = call.dim(n)
    return call.tensor([None if count is None else count // 2 + 1], "float")
