"""torch.nn: interpolation, pixel shuffling, grids.

https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import layer, op
from distml.ops.rules import resample as rules
from distml.ops.rules.layers import given
from distml.values import Const, Value

if TYPE_CHECKING:
    from collections.abc import Callable

NEAREST, BILINEAR = Const("nearest"), Const("bilinear")


@op("torch.nn.functional.interpolate")
def interpolate(
    call: Call,
    input: Value,
    size: Value = NONE,
    scale_factor: Value = NONE,
    mode: Value = NEAREST,
    align_corners: Value = NONE,
    recompute_scale_factor: Value = NONE,
    antialias: Value = NONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html"""
    return rules.interpolate(call, input, size, scale_factor, call.const(mode, str))


@op("torch.nn.functional.upsample")
def upsample(
    call: Call,
    input: Value,
    size: Value = NONE,
    scale_factor: Value = NONE,
    mode: Value = NEAREST,
    align_corners: Value = NONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.upsample.html"""
    return interpolate(call, input, size, scale_factor, mode)


@op("torch.nn.functional.upsample_nearest")
def upsample_nearest(call: Call, input: Value, size: Value = NONE, scale_factor: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.upsample_nearest.html"""
    return interpolate(call, input, size, scale_factor)


@op("torch.nn.functional.upsample_bilinear")
def upsample_bilinear(call: Call, input: Value, size: Value = NONE, scale_factor: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.upsample_bilinear.html"""
    return interpolate(call, input, size, scale_factor, BILINEAR)


@op("torch.nn.functional.pixel_shuffle", "torch.pixel_shuffle")
def pixel_shuffle(call: Call, input: Value, upscale_factor: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_shuffle.html"""
    return rules.shuffle(call, input, upscale_factor)


@op("torch.nn.functional.pixel_unshuffle", "torch.pixel_unshuffle")
def pixel_unshuffle(call: Call, input: Value, downscale_factor: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_unshuffle.html"""
    return rules.unshuffle(call, input, downscale_factor)


@op("torch.nn.functional.channel_shuffle", "torch.channel_shuffle", "torch.nn.functional.native_channel_shuffle")
def channel_shuffle(call: Call, input: Value, groups: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.ChannelShuffle.html"""
    return rules.channel_shuffle(call, input, groups)


@op("torch.nn.functional.grid_sample")
def grid_sample(
    call: Call,
    input: Value,
    grid: Value,
    mode: Value = BILINEAR,
    padding_mode: Value = NONE,
    align_corners: Value = NONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html"""
    return rules.grid_sample(call, input, grid)


@op("torch.nn.functional.affine_grid")
def affine_grid(call: Call, theta: Value, size: Value, align_corners: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.affine_grid.html"""
    return rules.affine_grid(call, theta, size)


@layer("torch.nn.Upsample")
class Upsample:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Upsample.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        size: Value = NONE,
        scale_factor: Value = NONE,
        mode: Value = NEAREST,
        align_corners: Value = NONE,
        recompute_scale_factor: Value = NONE,
    ) -> dict[str, Value]:
        """A size, or a factor for every axis."""
        return {"size": size, "scale_factor": scale_factor, "mode": mode}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """Other spatial sizes."""
        size, factor, mode = (given(call, attrs, name) for name in ("size", "scale_factor", "mode"))
        return rules.interpolate(call, input, size, factor, call.const(mode, str))


def _upsampling(mode: Const) -> type:
    class Upsampling:
        bases = ("torch.nn.Upsample",)

        @staticmethod
        def init(call: Call, size: Value = NONE, scale_factor: Value = NONE) -> dict[str, Value]:
            return {"size": size, "scale_factor": scale_factor, "mode": mode}

        forward = Upsample.forward

    return Upsampling


def _by_number(name: str, function: Callable[[Call, Value, Value], Value]) -> type:
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        if len(args) + len(kwargs) != 1 or not kwargs.keys() <= {name}:
            raise TypeError("one argument")
        return {name: args[0] if args else kwargs[name]}

    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        return function(call, input, given(call, attrs, name))

    members = {"bases": ("torch.nn.Module",), "init": staticmethod(init), "forward": staticmethod(forward)}
    return type("Rearranging", (), members)


layer("torch.nn.UpsamplingNearest2d")(_upsampling(NEAREST))
layer("torch.nn.UpsamplingBilinear2d")(_upsampling(BILINEAR))
layer("torch.nn.PixelShuffle")(_by_number("upscale_factor", rules.shuffle))
layer("torch.nn.PixelUnshuffle")(_by_number("downscale_factor", rules.unshuffle))
layer("torch.nn.ChannelShuffle")(_by_number("groups", rules.channel_shuffle))
