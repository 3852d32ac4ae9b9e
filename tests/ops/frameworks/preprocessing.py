"""How to draw the arguments of the layers of Keras that prepare data, of cells, and of keras.ops.image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ops.frameworks.drawing import Drawn, R, pair, shape, tensor, words


def picture() -> list[int]:
    return [2, R.randint(4, 9), R.randint(4, 9), 3]


def colours(**options: Any) -> Callable[[str], tuple[Any, ...]]:
    return lambda _: ([], dict(options), [picture()])


def factor(name: str) -> tuple[Any, ...]:
    return [0.2], {}, [picture()]


def sized(name: str) -> tuple[Any, ...]:
    return [R.randint(2, 4), R.randint(2, 4)], {}, [picture()[R.random() < 0.2 :]]


def categories(name: str) -> tuple[Any, ...]:
    sizes = shape(1, 3, 4)
    if R.random() < 0.4:
        sizes[-1] = 1
    return [R.randint(6, 9)], {"output_mode": R.choice(["one_hot", "multi_hot", "count"])}, [sizes]


def bins(name: str) -> tuple[Any, ...]:
    options = {"output_mode": R.choice(["one_hot", "multi_hot", "count"])} if R.random() < 0.4 else {}
    sizes = shape(1, 2, 4)
    if R.random() < 0.4:
        sizes[-1] = 1
    return [[float(number) for number in range(R.randint(1, 4))]], options, [sizes]


def normalized(name: str) -> tuple[Any, ...]:
    options = {"axis": None} if R.random() < 0.5 else {}
    return [], {**options, "mean": 0.5, "variance": 2.0}, [shape(2, 4)]


def attention(name: str) -> tuple[Any, ...]:
    batch, asked, given, width = (R.randint(1, 4) for _ in range(4))
    return [], {}, [[batch, asked, width], [batch, given, width]]


PREPROCESSING: dict[str, Callable[[str], tuple[Any, ...]]] = {
    **dict.fromkeys("Resizing CenterCrop RandomCrop".split(), sized),
    **dict.fromkeys(
        "RandomFlip Rescaling".split(), lambda name: ([0.5] if name == "Rescaling" else [], {}, [picture()])
    ),
    **dict.fromkeys("RandomRotation RandomZoom RandomContrast RandomBrightness".split(), factor),
    **dict.fromkeys("RandomHue RandomSaturation RandomSharpness".split(), factor),
    **dict.fromkeys("RandomColorDegeneration RandomGrayscale RandomInvert RandomErasing".split(), factor),
    **dict.fromkeys("RandomShear RandomGaussianBlur RandomPerspective".split(), factor),
    **dict.fromkeys("Solarization AutoContrast Equalization RandomColorJitter RandAugment".split(), colours()),
    "RMSNormalization": lambda _: ([], {}, [shape(2, 4)]),
    "Normalization": normalized,
    "CategoryEncoding": categories,
    "Discretization": bins,
    **dict.fromkeys("Attention AdditiveAttention".split(), attention),
}
"""Layers that have other arguments in each call, or none of the others' table."""


def crop(name: str) -> Drawn:
    top, left = R.randint(0, 2), R.randint(0, 1)
    options = {"top_cropping": top, "left_cropping": left, "target_height": R.randint(1, 4), "target_width": 2}
    if R.random() < 0.4:
        options = {"top_cropping": top, "left_cropping": left, "bottom_cropping": 1, "right_cropping": 1}
    return name, [tensor(*picture()[R.random() < 0.3 :])], options


def pad(name: str) -> Drawn:
    top, left = R.randint(0, 2), R.randint(0, 2)
    options = {"top_padding": top, "left_padding": left, "target_height": 13, "target_width": 14}
    if R.random() < 0.5:
        options = {"top_padding": top, "left_padding": left, "bottom_padding": 1, "right_padding": 2}
    return name, [tensor(*picture()[R.random() < 0.3 :])], options


def patches(name: str) -> Drawn:
    options: dict[str, Any] = {"padding": R.choice(["same", "valid"])}
    if R.random() < 0.5:
        options["strides"] = R.randint(1, 3)
    elif R.random() < 0.3:
        options["dilation_rate"] = 2
    size = R.choice([R.randint(1, 4), pair(R.randint(1, 3), R.randint(1, 3))])
    return name, [tensor(*picture()[R.random() < 0.3 :]), size], options


def resized(name: str) -> Drawn:
    return name, [tensor(*picture()[R.random() < 0.3 :]), pair(R.randint(1, 9), R.randint(1, 9))], {}


OPERATIONS: dict[str, Callable[[], Drawn]] = {
    **words("image.crop_images", crop),
    **words("image.pad_images", pad),
    **words("image.extract_patches", patches),
    **words("image.resize", resized),
    **words("image.rgb_to_grayscale", lambda name: (name, [tensor(*picture()[R.random() < 0.3 :])], {})),
}
"""How to draw calls of keras.ops that have no counterpart elsewhere; only Keras 3 has them."""
