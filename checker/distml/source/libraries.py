"""Names of the libraries whose presence makes a file worth checking."""

TENSOR_LIBRARIES = frozenset(
    {
        "einops",
        "flax",
        "jax",
        "jaxtyping",
        "keras",
        "lightning",
        "numpy",
        "opt_einsum",
        "pytorch_lightning",
        "tensorflow",
        "timm",
        "torch",
        "torchaudio",
        "torchtyping",
        "torchvision",
        "transformers",
    }
)
