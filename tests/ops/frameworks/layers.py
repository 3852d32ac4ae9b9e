"""How to draw the arguments of each layer of Keras and the shapes it is called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ops.frameworks.drawing import R, axis, near, pair, shape


def layer_conv(name: str) -> tuple[Any, ...]:
    count = int(next(letter for letter in name if letter.isdigit()))
    options: dict[str, Any] = {"padding": R.choice(["same", "valid"])}
    if R.random() < 0.5:
        options["strides"] = R.randint(1, 3)
    elif R.random() < 0.3 and "Depthwise" not in name:
        options["dilation_rate"] = 2
    if name == "Conv1D" and R.random() < 0.3:
        options["padding"] = "causal"
    filters = [] if "Depthwise" in name else [R.randint(1, 6)]
    sizes = [2, *(R.randint(2, 8) for _ in range(count)), R.randint(1, 4)]
    return [*filters, R.randint(1, 4)], options, [sizes[1:] if R.random() < 0.1 else sizes]


def layer_pool(name: str) -> tuple[Any, ...]:
    count = int(next(letter for letter in name if letter.isdigit()))
    options = {"padding": R.choice(["same", "valid"])}
    if R.random() < 0.5:
        options["strides"] = R.randint(1, 3)  # type: ignore[assignment]
    return [R.randint(1, 3)], options, [[2, *(R.randint(1, 8) for _ in range(count)), 3][R.random() < 0.1 :]]


def layer_global(name: str) -> tuple[Any, ...]:
    count = int(next(letter for letter in name if letter.isdigit()))
    return (
        [],
        R.choice([{}, {"keepdims": True}]),
        [[2, *(R.randint(1, 8) for _ in range(count)), 3][R.random() < 0.2 :]],
    )


def layer_spatial(name: str) -> tuple[Any, ...]:
    count = int(next(letter for letter in name if letter.isdigit()))
    sizes = [2, *(R.randint(2, 8) for _ in range(count)), 3]
    edges: Any = R.choice([1, pair(*(pair(1, 2) for _ in range(count))) if count > 1 else pair(1, 2)])
    return [edges if "Up" not in name else 2], {}, [sizes]


def layer_recurrent(name: str) -> tuple[Any, ...]:
    options = {key: True for key in ("return_sequences", "return_state") if R.random() < 0.4}
    return [R.randint(1, 5)], options, [[2, R.randint(1, 4), 3][R.random() < 0.1 :]]


def layer_merge(name: str) -> tuple[Any, ...]:
    sizes = [2, *shape(1, 3)]
    other = [sizes[0], *near(sizes[1:])]
    return [], {}, [sizes, other] if len(other) == len(sizes) else [sizes, sizes]


def layer_join(name: str) -> tuple[Any, ...]:
    sizes = [2, *shape(1, 3)]
    at = axis(len(sizes), 0)
    other = list(sizes)
    other[at] += R.randint(0, 2)
    if R.random() < 0.2:
        other[R.randrange(1, len(other))] += 1
    return [], {"axis": at}, [sizes, other]


def any_rank(*args: Any, low: int = 2, high: int = 4) -> Callable[[str], tuple[Any, ...]]:
    return lambda _: (list(args), {}, [shape(low, high)])


def layer_reshape(name: str) -> tuple[Any, ...]:
    sizes = [2, *shape(1, 3)]
    total = 1
    for size in sizes[1:]:
        total *= size
    target = R.choice([[total], [-1, 1], [total, 1], [1, -1], [total + 1]])
    return [pair(*target)], {}, [sizes]


def layer_permute(name: str) -> tuple[Any, ...]:
    sizes = [2, *shape(1, 3)]
    order = R.sample(range(1, len(sizes)), len(sizes) - 1)
    return [pair(*order) if R.random() < 0.85 else pair(1, 2)], {}, [sizes]


KERAS: dict[str, Callable[[str], tuple[Any, ...]]] = {
    "Dense": lambda _: ([R.randint(1, 6)], {}, [shape(1, 4)]),
    "Flatten": any_rank(),
    "Dropout": any_rank(0.5),
    "BatchNormalization": any_rank(),
    "LayerNormalization": any_rank(),
    "ReLU": any_rank(),
    "Activation": any_rank("relu"),
    "Embedding": lambda _: ([10, R.randint(1, 5)], {}, [shape(1, 3)]),
    "RepeatVector": lambda _: ([R.randint(1, 4)], {}, [shape(1, 3)]),
    "Softmax": any_rank(),
    "GaussianNoise": any_rank(0.1),
    "Reshape": layer_reshape,
    "Permute": layer_permute,
    **dict.fromkeys("Conv1D Conv2D Conv3D SeparableConv1D SeparableConv2D DepthwiseConv2D".split(), layer_conv),
    **dict.fromkeys("Conv1DTranspose Conv2DTranspose Conv3DTranspose".split(), layer_conv),
    **dict.fromkeys("MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D".split(), layer_pool),
    **dict.fromkeys(
        "GlobalMaxPooling1D GlobalAveragePooling1D GlobalAveragePooling2D GlobalMaxPooling2D".split(), layer_global
    ),
    **dict.fromkeys(
        "UpSampling1D UpSampling2D ZeroPadding1D ZeroPadding2D Cropping1D Cropping2D".split(), layer_spatial
    ),
    **dict.fromkeys("LSTM GRU SimpleRNN".split(), layer_recurrent),
    **dict.fromkeys("Add Multiply Average Maximum Subtract".split(), layer_merge),
    "Concatenate": layer_join,
}
"""How to draw the arguments of each layer and the shapes it is called with."""
