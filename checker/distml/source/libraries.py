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

FRAMEWORKS = frozenset({"flax", "jax", "keras", "tensorflow", "tensorflow-cpu", "tf-keras", "torch"})
"""What an installed package must need, by the names of distributions, to be followed."""
UNDERSTOOD = frozenset({"lightning", "pytorch_lightning"})
"""Libraries that the interpreter knows itself; their own code would only hide what they do."""
