"""Names of libraries that decide what is looked at."""

TENSOR_LIBRARIES = frozenset(
    {
        "einops",
        "flax",
        "jax",
        "jaxtyping",
        "keras",
        "lightning",
        "matplotlib",
        "numpy",
        "opt_einsum",
        "pandas",
        "pytorch_lightning",
        "scipy",
        "sklearn",
        "tensorflow",
        "timm",
        "torch",
        "torchaudio",
        "torchtyping",
        "torchvision",
        "transformers",
    }
)

CHOOSES_FLOATS = {
    "torch": ("torch.set_default_dtype", "torch.set_default_tensor_type"),
    "keras": (
        "keras.backend.set_floatx",
        "keras.config.set_dtype_policy",
        "keras.config.set_floatx",
        "keras.mixed_precision.experimental.set_policy",
        "keras.mixed_precision.set_dtype_policy",
        "keras.mixed_precision.set_global_policy",
    ),
    "tensorflow": ("tensorflow.experimental.numpy.experimental_enable_numpy_behavior",),
}
"""Functions that say what floats are from there on, in all files of a program, or that a library converts them (SHP312)."""

FRAMEWORKS = frozenset({"flax", "jax", "keras", "tensorflow", "tensorflow-cpu", "tf-keras", "torch"})
"""What an installed package must need, by the names of distributions, to be followed."""
UNDERSTOOD = frozenset({"lightning", "pytorch_lightning"})
"""Libraries that the interpreter knows itself; their own code would only hide what they do."""
