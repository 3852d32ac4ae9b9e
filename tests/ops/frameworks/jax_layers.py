"""How to draw the arguments of each layer of flax.linen and flax.nnx, and the shapes it is called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ops.frameworks.drawing import R, shape

Layer = tuple[list[Any], dict[str, Any], list[list[int]]]


def dense() -> Layer:
    return [R.randint(1, 6)], {}, [shape(0 if R.random() < 0.1 else 1, 4)]


def general() -> Layer:
    sizes = shape(2, 4)
    axis = R.choice([-1, (-2, -1)])
    return [R.choice([3, (2, 3)])], {"axis": axis}, [sizes]


def windows(options: dict[str, Any], count: int) -> None:
    options["padding"] = R.choice(["SAME", "VALID", "SAME", 1])
    if R.random() < 0.5:
        options["strides"] = (R.randint(1, 2),) * count


def conv() -> Layer:
    count = R.randint(1, 2)
    groups = R.choice([1, 1, 2])
    options: dict[str, Any] = {"feature_group_count": groups} if groups > 1 else {}
    windows(options, count)
    kernel = tuple(R.randint(1, 3) for _ in range(count))
    if R.random() < 0.2:
        options["kernel_dilation"] = (2,) * count
    ahead = shape(0, 2, 3)
    spatial = [R.randint(5, 8) for _ in range(count - (R.random() < 0.05))]
    return [2 * R.randint(1, 3), kernel], options, [[*ahead, *spatial, groups * R.randint(1, 2) + (R.random() < 0.1)]]


def transposed() -> Layer:
    count = R.randint(1, 2)
    options: dict[str, Any] = {}
    windows(options, count)
    options["padding"] = R.choice(["SAME", "VALID"])
    kernel = tuple(R.randint(1, 3) for _ in range(count))
    return [R.randint(1, 4), kernel], options, [[2, *(R.randint(2, 5) for _ in range(count)), R.randint(1, 3)]]


def norm() -> Layer:
    return [], {}, [shape(1, 4)]


def batch_norm() -> Layer:
    return [], {"use_running_average": False}, [shape(1, 4)]


def group_norm() -> Layer:
    sizes = shape(2, 4)
    sizes[-1] = R.choice([2, 4, 6, 3])
    return [], {"num_groups": R.choice([1, 2, 2])}, [sizes]


def dropout() -> Layer:
    return [0.5], {"deterministic": True}, [shape(0, 4)]


def heads() -> Layer:
    number = R.randint(1, 3)
    width = number * R.randint(1, 3) + (R.random() < 0.15)
    options = R.choice([{}, {"out_features": 5}, {"qkv_features": 2 * number}])
    return [number], options, [[2, R.randint(1, 4), width]]


LINEN: dict[str, Callable[[], Layer]] = {
    "Dense": dense,
    "DenseGeneral": general,
    "Conv": conv,
    "ConvTranspose": transposed,
    "Embed": lambda: ([10, R.randint(1, 5)], {}, [shape(0, 3)]),
    "BatchNorm": batch_norm,
    "LayerNorm": norm,
    "RMSNorm": norm,
    "GroupNorm": group_norm,
    "Dropout": dropout,
    "MultiHeadDotProductAttention": heads,
    "SelfAttention": heads,
}


def of_input(draw: Callable[[], Layer]) -> Callable[[], Layer]:
    """The same layer made for the size of its input, or for another one."""

    def made() -> Layer:
        args, kwargs, inputs = draw()
        last = inputs[0][-1] if inputs[0] else 1
        return [last + (R.random() < 0.2), *args], kwargs, inputs

    return made


def own_heads() -> Layer:
    args, options, inputs = heads()
    return [*args, inputs[0][-1] + (R.random() < 0.15)], {**options, "decode": False}, inputs


def own_general() -> Layer:
    sizes = shape(2, 4)
    taken = [sizes[-2], sizes[-1] + (R.random() < 0.15)]
    return [tuple(taken), (2, 3)], {"axis": (-2, -1)}, [sizes]


def contraction() -> Layer:
    sizes = shape(3, 3)
    return ["abc,cd->abd", (sizes[-1] + (R.random() < 0.15), 4), (4,)], {}, [sizes]


NNX: dict[str, Callable[[], Layer]] = {
    "Linear": of_input(dense),
    "Conv": of_input(conv),
    "ConvTranspose": of_input(transposed),
    "Embed": LINEN["Embed"],
    "BatchNorm": of_input(batch_norm),
    "LayerNorm": of_input(norm),
    "RMSNorm": of_input(norm),
    "GroupNorm": of_input(group_norm),
    "Dropout": dropout,
    "MultiHeadAttention": own_heads,
    "LinearGeneral": own_general,
    "Einsum": contraction,
}
