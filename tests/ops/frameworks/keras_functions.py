"""How to draw calls of keras.ops and keras.random; only Keras 3 has them. NumPy's calls are made of its names too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ops.frameworks.drawing import Drawn, R, axis, near, pair, shape, tensor, words
from ops.frameworks.functions import binary, one_axis, reduce, top, unary


def convolution(name: str) -> Drawn:
    count, channels = R.randint(1, 2), R.choice([1, 2, 4])
    image = [2, *(R.randint(3, 9) for _ in range(count)), channels]
    kernel = [*(R.randint(1, 3) for _ in range(count)), channels + (R.random() < 0.15), R.randint(1, 4)]
    options: dict[str, Any] = {"strides": R.randint(1, 3), "padding": R.choice(["same", "valid"])}
    if R.random() < 0.2:
        options |= {"strides": 1, "dilation_rate": 2}
    return name, [tensor(*image), tensor(*kernel)], options


def pooling(name: str) -> Drawn:
    count = R.randint(1, 2)
    image = [2, *(R.randint(3, 9) for _ in range(count)), 3]
    options: dict[str, Any] = {"padding": R.choice(["same", "valid"]), "strides": R.randint(1, 3)}
    return name, [tensor(*image), R.randint(1, 3)], options


def segments(name: str) -> Drawn:
    sizes = shape(1, 3)
    return name, [tensor(*sizes), tensor(sizes[0], kind="int32")], {"num_segments": R.randint(1, 5)}


def heads(name: str) -> Drawn:
    batch, asked, given, count, width = (R.randint(1, 4) for _ in range(5))
    wrong = R.random() < 0.2
    keys = tensor(batch, given, count, width + wrong)
    return name, [tensor(batch, asked, count, width), keys, tensor(batch, given, count, width + wrong)], {}


def halves(name: str) -> Drawn:
    sizes = [2 * size if R.random() < 0.8 else size for size in shape(1)]
    return name, [tensor(*sizes), axis(len(sizes))], {}


def scattered(name: str) -> Drawn:
    sizes, count = shape(1, 3), R.randint(1, 3)
    return name, [tensor(count, len(sizes), kind="int32"), tensor(count), pair(*sizes)], {}


def entropy(name: str) -> Drawn:
    sizes = shape(1, 3)
    return name, [tensor(*(sizes if R.random() < 0.7 else near(sizes))), tensor(*sizes)], {}


def part(name: str) -> Drawn:
    sizes = shape(1, 3)
    return name, [tensor(*sizes), pair(*(0 for _ in sizes)), pair(*(R.randint(1, size) for size in sizes))], {}


FUNCTIONS: dict[str, Callable[[], Drawn]] = {
    **words("top_k", top),
    **words("normalize sparsemax flip sort argsort", one_axis),
    **words("hard_silu hard_tanh celu soft_shrink squareplus nn.relu", unary),
    **words("layer_normalization rms_normalization", lambda n: (n, [tensor(*shape(1))], {})),
    **words("erfc", lambda n: (n, [tensor(*shape())], {})),
    **words("divide_no_nan logaddexp fmod", binary),
    **words("amax amin median nanmean ptp", reduce),
    **words("glu", halves),
    **words("conv nn.conv", convolution),
    **words("max_pool average_pool", pooling),
    **words("dot_product_attention", heads),
    **words("segment_sum segment_max", segments),
    **words("scatter", scattered),
    **words("binary_crossentropy", entropy),
    **words("slice", part),
    **words("moments", lambda n: (n, [tensor(*(sizes := shape(1, 4))), [axis(len(sizes))]], {})),
    **words("percentile", lambda n: (n, [tensor(*shape(1, 3)), R.choice([50.0, [25.0, 75.0]])], {})),
}
"""Of keras.ops."""
DRAWS: dict[str, Callable[[], Drawn]] = {
    **words("normal truncated_normal uniform", lambda n: (n, [pair(*shape())], {"seed": 1})),
    **words("randint", lambda n: (n, [pair(*shape()), 0, 5], {"seed": 1})),
    **words("categorical", lambda n: (n, [tensor(*shape(1, 3)), R.randint(1, 4)], {"seed": 1})),
    **words("dropout", lambda n: (n, [tensor(*shape()), 0.5], {"seed": 1})),
    **words("shuffle", lambda n: (n, [tensor(*(sizes := shape(1))), axis(len(sizes), 0)], {"seed": 1})),
}
"""Of keras.random."""
