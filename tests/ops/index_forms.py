"""What stands between brackets, and whether the libraries and Python take it.

    PYTHONPATH=tests python -m ops.index_forms {numpy,torch,tensorflow,jax}

prints, as JSON, which indices raise for an array of (4, 6); `frameworks/index_forms.json` keeps it for TensorFlow 2.15 and
JAX 0.10.
"""

from __future__ import annotations

import json
import sys

from ops.raising import Case, raised

MAKERS = {
    "numpy": ("import numpy as np", "np.ones((4, 6))", "np.array({}, dtype=np.{})"),
    "torch": ("import torch", "torch.ones(4, 6)", "torch.tensor({}, dtype=torch.{})"),
    "tensorflow": ("import tensorflow as tf", "tf.ones((4, 6))", "tf.constant({}, dtype=tf.{})"),
    "jax": ("import jax.numpy as jnp", "jnp.ones((4, 6))", "jnp.array({}, dtype=jnp.{})"),
}
PLAIN = (
    "1",
    "1.0",
    "n / 2",
    "n // 2",
    ":n / 2",
    ":n // 2",
    "n / 4:",
    "1:3:1.0",
    "::2",
    "1.0, 2",
    "1, 2.0",
    ":, n / 2",
    ":, :n / 2",
    "..., :n // 2",
    "None, 1",
    "math.floor(n / 2)",
    "math.sqrt(n)",
    ":math.sqrt(n)",
    ":int(math.sqrt(n))",
    "round(n / 2)",
    ":round(n / 2, 1)",
)
ARRAYS = (("[0, 1]", "int32"), ("[0.0, 1.0]", "float32"), ("1", "int32"), ("1.0", "float32"), ("[0.5]", "float64"))
SEQUENCES = {
    "[1, 2, 3, 4]": (*PLAIN, "0, 1", ":, 0", "[0, 1]", "(0,)", "[0]"),
    "(1, 2, 3, 4)": (*PLAIN, "0, 1", ":, 0", "[0, 1]"),
    "[[1, 2], [3, 4], [5, 6]]": (":, 0", "0, 1", "[0, 1]", "1", "0:2"),
    "range(8)": (*PLAIN, "0, 1"),
}
HEAD = "import math\n\nn = 4"


def indices(library: str) -> list[tuple[str, str]]:
    """Values and what stands between their brackets."""
    _, array, kind = MAKERS[library]
    inner = [kind.format(values, dtype) for values, dtype in ARRAYS]
    both = [(array, index) for index in (*PLAIN, *inner, *(f":, {each}" for each in inner))]
    return both + [(value, index) for value, given in SEQUENCES.items() for index in given]


def really(library: str) -> list[Case]:
    """The values, each with an index, that raise an exception."""
    cases = [((value, index), value, f"x[{index}]") for value, index in indices(library)]
    return raised(f"{HEAD}\n{MAKERS[library][0]}", cases)


if __name__ == "__main__":
    print(json.dumps(really(sys.argv[1])))
