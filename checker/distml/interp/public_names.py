"""Names of libraries: the public name of what an inner module holds, and names that stand for constants."""

from __future__ import annotations

from distml.values import NONE, Const, Value

CONSTANTS: dict[str, Value] = {
    "numpy.newaxis": NONE,
    "numpy.pi": Const(3.141592653589793),
    "numpy.e": Const(2.718281828459045),
    "numpy.inf": Const(float("inf")),
    "numpy.nan": Const(float("nan")),
    "tensorflow.newaxis": NONE,
    "torch.pi": Const(3.141592653589793),
    "torch.inf": Const(float("inf")),
    "torch.nan": Const(float("nan")),
    "math.pi": Const(3.141592653589793),
    "math.e": Const(2.718281828459045),
    "math.tau": Const(6.283185307179586),
    "math.inf": Const(float("inf")),
    "math.nan": Const(float("nan")),
    "sys.maxsize": Const(2**63 - 1),
    "typing.TYPE_CHECKING": Const(False),
    "typing_extensions.TYPE_CHECKING": Const(False),
}

_ALIASES = {
    "tensorflow.compat.v1.": "tensorflow.",
    "tensorflow.compat.v2.": "tensorflow.",
    "tensorflow.keras.": "keras.",
    "tensorflow.initializers.": "keras.initializers.",
    "keras.models.": "keras.",
    "torch.nn.modules.linear.": "torch.nn.",
    "torch.nn.parameter.": "torch.nn.",
    "torch.nn.modules.module.": "torch.nn.",
    "torch.utils.data.dataset.": "torch.utils.data.",
    "torch.utils.data.dataloader.": "torch.utils.data.",
    "torch.functional.": "torch.",
    "numpy.core.": "numpy.",
    "jax.numpy.ndarray": "jax.Array",
    "flax.linen.initializers.": "jax.nn.initializers.",
    "flax.nnx.initializers.": "jax.nn.initializers.",
    "flax.linen.module.": "flax.linen.",
}
_SAME = {
    "keras.Layer": "keras.layers.Layer",
    **{f"keras.layers.Convolution{axes}DTranspose": f"keras.layers.Conv{axes}DTranspose" for axes in (1, 2, 3)},
    **{
        f"keras.layers.{other.format(axes)}D": f"keras.layers.{name.format(axes)}D"
        for axes in (1, 2, 3)
        for other, name in {
            "AvgPool{}": "AveragePooling{}",
            "Convolution{}": "Conv{}",
            "GlobalAvgPool{}": "GlobalAveragePooling{}",
            "GlobalMaxPool{}": "GlobalMaxPooling{}",
            "MaxPool{}": "MaxPooling{}",
            "SeparableConvolution{}": "SeparableConv{}",
        }.items()
    },
}
"""Two names of one class: https://keras.io/api/layers."""


def canonical(name: str) -> str:
    """The public name of a library object reached through an inner module."""
    for inner, public in _ALIASES.items():
        if name.startswith(inner):
            name = public + name[len(inner) :]
    if name.startswith("torch.nn.modules.") and name.count(".") > 3:
        return "torch.nn." + name.rpartition(".")[2]
    return _SAME.get(name, name)
