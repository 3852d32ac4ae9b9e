"""keras: the layers within the networks of keras.applications, by name: how often the image was halved there, and its channels.

https://keras.io/api/applications
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Layers = Iterator[tuple[str, int, int]]

_RESNETS = {"50": (3, 4, 6, 3), "101": (3, 4, 23, 3), "152": (3, 8, 36, 3)}
_DENSENETS = {"121": (6, 12, 24, 16), "169": (6, 12, 32, 32), "201": (6, 12, 48, 32)}
_EFFICIENT = {"B0": (1.0, 1.0), "B1": (1.0, 1.1), "B2": (1.1, 1.2), "B3": (1.2, 1.4), "B4": (1.4, 1.8)}
_EFFICIENT |= {"B5": (1.6, 2.2), "B6": (1.8, 2.6), "B7": (2.0, 3.1)}
_MOBILE = (64, 128, 128, 256, 256, *(512,) * 6, 1024, 1024)
_INVERTED = ((24, 2, 2), (32, 3, 3), (64, 4, 4), (96, 3, 4), (160, 3, 5))
_INVERTED_BLOCKS = ((1, 16, 1), (2, 24, 2), (2, 40, 3), (3, 80, 4), (3, 112, 4), (4, 192, 5), (1, 320, 5))


def _vgg(convolutions: int) -> Layers:
    for block, channels in enumerate((64, 128, 256, 512, 512), 1):
        for number in range(2 if block < 3 else convolutions):
            yield f"block{block}_conv{number + 1}", block - 1, channels
        yield f"block{block}_pool", block, channels


def _resnet(depths: tuple[int, ...]) -> Layers:
    yield from ((f"conv1_{part}", 1, 64) for part in ("conv", "bn", "relu"))
    yield "pool1_pool", 2, 64
    for stage, depth in enumerate(depths, 2):
        narrow = 32 * 2 ** (stage - 1)
        for block in range(1, depth + 1):
            name = f"conv{stage}_block{block}"
            yield from ((f"{name}_{n}_{part}", stage, narrow) for n in (1, 2) for part in ("conv", "bn", "relu"))
            wide = ("3_conv", "3_bn", "add", "out", *(("0_conv", "0_bn") if block == 1 else ()))
            yield from ((f"{name}_{part}", stage, 4 * narrow) for part in wide)


def _resnet_v2(depths: tuple[int, ...]) -> Layers:
    yield from (("conv1_conv", 1, 64), ("pool1_pool", 2, 64), ("post_bn", 5, 2048), ("post_relu", 5, 2048))
    for stage, depth in enumerate(depths, 2):
        narrow = 32 * 2 ** (stage - 1)
        for block in range(1, depth + 1):
            name, after = f"conv{stage}_block{block}", stage + (block == depth and stage < 5)
            given = (2 if stage > 2 else 1) * narrow if block == 1 else 4 * narrow
            yield from ((f"{name}_preact_{part}", stage, given) for part in ("bn", "relu"))
            yield from ((f"{name}_1_{part}", stage, narrow) for part in ("conv", "bn", "relu"))
            yield from ((f"{name}_2_{part}", after, narrow) for part in ("conv", "bn", "relu"))
            wide = ("3_conv", "out", *(("0_conv",) if block == 1 else ()))
            yield from ((f"{name}_{part}", after, 4 * narrow) for part in wide)


def _mobilenet() -> Layers:
    yield from ((f"conv1{part}", 1, 32) for part in ("", "_bn", "_relu"))
    level, before = 1, 32
    for number, channels in enumerate(_MOBILE, 1):
        level += number in (2, 4, 6, 12)
        yield from ((f"conv_dw_{number}{part}", level, before) for part in ("", "_bn", "_relu"))
        yield from ((f"conv_pw_{number}{part}", level, channels) for part in ("", "_bn", "_relu"))
        before = channels


def _mobilenet_v2() -> Layers:
    yield from ((name, 1, 32) for name in ("Conv1", "bn_Conv1", "Conv1_relu"))
    yield from ((f"expanded_conv_depthwise{part}", 1, 32) for part in ("", "_BN", "_relu"))
    yield from ((f"expanded_conv_project{part}", 1, 16) for part in ("", "_BN"))
    number, before, level = 1, 16, 1
    for channels, count, after in (*_INVERTED, (320, 1, 5)):
        for repeat in range(count):
            name, wide = f"block_{number}", 6 * before
            yield from ((f"{name}_expand{part}", level, wide) for part in ("", "_BN", "_relu"))
            level = after
            yield from ((f"{name}_depthwise{part}", level, wide) for part in ("", "_BN", "_relu"))
            yield from ((f"{name}_project{part}", level, channels) for part in ("", "_BN"))
            if repeat:
                yield f"{name}_add", level, channels
            number, before = number + 1, channels
    yield from ((name, 5, 1280) for name in ("Conv_1", "Conv_1_bn", "out_relu"))


def _efficientnet(width: float, depth: float) -> Layers:
    def scaled(channels: int) -> int:
        near = max(8, int(channels * width + 4) // 8 * 8)
        return near + 8 if near < 0.9 * channels * width else near

    yield from ((f"stem_{part}", 1, scaled(32)) for part in ("conv", "bn", "activation"))
    before, level = scaled(32), 1
    for stage, (count, plain, after) in enumerate(_INVERTED_BLOCKS, 1):
        channels = scaled(plain)
        for repeat in range(math.ceil(count * depth)):
            name, wide = f"block{stage}{chr(ord('a') + repeat)}", before * (6 if stage > 1 else 1)
            if stage > 1:
                yield from ((f"{name}_expand_{part}", level, wide) for part in ("conv", "bn", "activation"))
            level = after
            yield from ((f"{name}_{part}", level, wide) for part in ("dwconv", "bn", "activation", "se_excite"))
            ends = ("project_conv", "project_bn", *(("drop", "add") if repeat else ()))
            yield from ((f"{name}_{part}", level, channels) for part in ends)
            before = channels
    yield from ((f"top_{part}", 5, scaled(1280)) for part in ("conv", "bn", "activation"))


def _densenet(depths: tuple[int, ...]) -> Layers:
    yield from ((f"conv1/{part}", 1, 64) for part in ("conv", "bn", "relu"))
    yield "pool1", 2, 64
    channels = 64
    for stage, depth in enumerate(depths, 2):
        for block in range(1, depth + 1):
            name = f"conv{stage}_block{block}"
            yield from ((f"{name}_0_{part}", stage, channels) for part in ("bn", "relu"))
            yield from ((f"{name}_1_{part}", stage, 128) for part in ("conv", "bn", "relu"))
            yield f"{name}_2_conv", stage, 32
            channels += 32
            yield f"{name}_concat", stage, channels
        if stage < 5:
            yield from ((f"pool{stage}_{part}", stage, channels) for part in ("bn", "relu"))
            channels //= 2
            yield from ((f"pool{stage}_conv", stage, channels), (f"pool{stage}_pool", stage + 1, channels))
    yield from ((name, 5, channels) for name in ("bn", "relu"))


_NETWORKS: dict[str, Callable[[], Layers]] = {
    "VGG16": partial(_vgg, 3),
    "VGG19": partial(_vgg, 4),
    "MobileNet": _mobilenet,
    "MobileNetV2": _mobilenet_v2,
    **{f"ResNet{name}": partial(_resnet, depths) for name, depths in _RESNETS.items()},
    **{f"ResNet{name}V2": partial(_resnet_v2, depths) for name, depths in _RESNETS.items()},
    **{f"DenseNet{name}": partial(_densenet, depths) for name, depths in _DENSENETS.items()},
    **{f"EfficientNet{name}": partial(_efficientnet, *by) for name, by in _EFFICIENT.items()},
}


@cache
def inner_layers(network: str) -> dict[str, tuple[int, int]]:
    """Halvings of the image and channels by the names of layers; none where a network is not known from inside.

    For images whose sizes are divided by 32, and the usual width."""
    made = _NETWORKS.get(network)
    return {} if made is None else {name: (level, channels) for name, level, channels in made()}
