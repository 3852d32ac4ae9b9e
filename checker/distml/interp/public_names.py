"""Names of libraries: the public name of what an inner module holds, and names that stand for constants."""

from __future__ import annotations

from functools import lru_cache

from distml.ops.registry import find_attribute, find_layer, find_op
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
    "keras.ops.numpy.": "keras.ops.",
    "keras.ops.nn.": "keras.ops.",
    "keras.layers.experimental.preprocessing.": "keras.layers.",
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
    "optax.transforms.": "optax.",
}
_LOSSES = """
binary_crossentropy categorical_crossentropy hinge huber kl_divergence log_cosh mae mape mse mean_absolute_error
mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error poisson sparse_categorical_crossentropy
squared_hinge KLD MAE MAPE MSE MSLE kld kullback_leibler_divergence logcosh msle
""".split()
_INITIALIZERS = """
Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity LecunNormal LecunUniform Ones Orthogonal RandomNormal
RandomUniform TruncatedNormal VarianceScaling Zeros
""".split()
_OF_VERSION_1 = ("mae", "mse", "mean_absolute_error", "mean_squared_error", "mape", "MAE", "MSE", "MAPE")
"""Functions of `tensorflow.losses` and `tensorflow.metrics` that are others in version 1, or whose other names are."""
_LOSS_CLASSES = """
BinaryCrossentropy CategoricalCrossentropy Hinge Huber KLDivergence LogCosh Loss MeanAbsoluteError MeanAbsolutePercentageError
MeanSquaredError MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy SquaredHinge
""".split()


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


_SAME = {
    "keras.Layer": "keras.layers.Layer",
    "keras.Loss": "keras.losses.Loss",
    "keras.config.epsilon": "keras.backend.epsilon",
    "keras.initializers.IdentityInitializer": "keras.initializers.Identity",
    "keras.initializers.OrthogonalInitializer": "keras.initializers.Orthogonal",
    **{f"keras.initializers.{_snake(name)}": f"keras.initializers.{name}" for name in _INITIALIZERS},
    **{f"keras.metrics.{name}": f"keras.losses.{name}" for name in _LOSSES},
    **{f"tensorflow.losses.{name}": f"keras.losses.{name}" for name in _LOSS_CLASSES},
    **{
        f"tensorflow.{module}.{name}": f"keras.losses.{name}"
        for module in ("losses", "metrics")
        for name in _LOSSES
        if name not in _OF_VERSION_1
    },
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
    "tensorflow.autodiff.GradientTape": "tensorflow.GradientTape",
    **{f"tensorflow.dtypes.{name}": f"tensorflow.{name}" for name in ("cast", "complex", "saturate_cast")},
    "tensorflow.eig": "tensorflow.linalg.eig",
    "tensorflow.eigvals": "tensorflow.linalg.eigvals",
    "tensorflow.nn.lrn": "tensorflow.nn.local_response_normalization",
    "tensorflow.sparse.SparseTensor": "tensorflow.SparseTensor",
    "torch.GradScaler": "torch.amp.GradScaler",
    "torch.adaptive_avg_pool1d": "torch.nn.functional.adaptive_avg_pool1d",
    "torch.avg_pool1d": "torch.nn.functional.avg_pool1d",
    "torch.native_channel_shuffle": "torch.nn.functional.native_channel_shuffle",
    "torch.utils.data.DistributedSampler": "torch.utils.data.distributed.DistributedSampler",
    "torch.autograd.profiler.record_function": "torch.profiler.record_function",
    **{f"torch.random.{name}": f"torch.{name}" for name in ("get_rng_state", "initial_seed", "seed", "set_rng_state")},
    **{f"torch.serialization.{name}": f"torch.{name}" for name in ("load", "save")},
    **{
        f"torch.distributed.distributed_c10d.{name}": f"torch.distributed.{name}"
        for name in ("get_rank", "get_world_size", "is_initialized")
    },
    "numpy.ma.innerproduct": "numpy.ma.inner",
    "numpy.ma.outerproduct": "numpy.ma.outer",
    "flax.linen.FrozenDict": "flax.core.FrozenDict",
    "flax.linen.normalize": "flax.linen.standardize",
    "flax.linen.activation.normalize": "flax.linen.standardize",
    "flax.linen.ones": "jax.nn.initializers.ones",
    "flax.linen.zeros": "jax.nn.initializers.zeros",
    "jax.numpy.complex_": "jax.numpy.cdouble",
    "jax.numpy.float_": "jax.numpy.double",
    "jax.dtypes.finfo": "jax.numpy.finfo",
    "jax.dtypes.iinfo": "jax.numpy.iinfo",
    "optax.partition": "optax.multi_transform",
}
"""Names of one object: tests compare them with what the libraries say (`tests/ops/test_names.py`)."""
_ABBREVIATED = {
    **dict.fromkeys(("KLD", "kld", "kullback_leibler_divergence"), "kl_divergence"),
    "logcosh": "log_cosh",
    "MAE": "mae",
    "MAPE": "mape",
    "MSE": "mse",
    "MSLE": "mean_squared_logarithmic_error",
    "msle": "mean_squared_logarithmic_error",
}
_SAME |= {f"keras.losses.{name}": f"keras.losses.{full}" for name, full in _ABBREVIATED.items()}
_SPREAD = (
    *(
        "torch.distributions.",
        "torch.utils.data.",
        "torch.autograd.",
        "torch.amp.",
        "torch.cuda.amp.",
        "torch.cuda.",
        "torch.nn.utils.",
        "torch.profiler.",
        "torch.signal.windows.",
    ),
    *("numpy.ma.", "numpy.random.", "flax.linen.", "flax.core.", "tensorflow.math."),
)
"""Packages that show as their own what their modules hold."""


@lru_cache(1 << 14)
def _of_package(name: str) -> str:
    """The name that a package has for what one of its modules holds, if there are rules for that and none for the inner name."""
    package = next(each for each in _SPREAD if name.startswith(each))
    inner, _, own = name.removeprefix(package).rpartition(".")
    shown = f"{package}{own}"
    spread = inner[:1].islower() and "." not in inner and not has_rules(name) and has_rules(shown)
    return shown if spread else name


def has_rules(name: str) -> bool:
    """Whether there are rules for a function, a class or an attribute of that name."""
    return find_op(name) is not None or find_layer(name) is not None or find_attribute(name) is not None


def canonical(name: str) -> str:
    """The public name of a library object reached through an inner module, or under another of its names."""
    for inner, public in _ALIASES.items():
        if name.startswith(inner):
            name = public + name[len(inner) :]
    if name.startswith("torch.nn.modules.") and name.count(".") > 3:
        return "torch.nn." + name.rpartition(".")[2]
    while name in _SAME:
        name = _SAME[name]
    return _of_package(name) if name.startswith(_SPREAD) else name
