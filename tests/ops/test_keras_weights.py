"""The weights of Keras' layers by name, as Keras 2.15 and 3.15 make them for the first input."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, revealed

WEIGHTS = [
    ("Dense(5)", "(4, 8)", "kernel", "[8, 5]"),
    ("Dense(5)", "(4, 10, 8)", "kernel", "[8, 5]"),
    ("Embedding(60, 32)", "(3, 4)", "embeddings", "[60, 32]"),
    ("Conv1D(7, 3)", "(2, 10, 8)", "kernel", "[3, 8, 7]"),
    ("Conv2D(7, (3, 5))", "(2, 20, 20, 3)", "kernel", "[3, 5, 3, 7]"),
    ("Conv3D(2, 3)", "(2, 9, 9, 9, 4)", "kernel", "[3, 3, 3, 4, 2]"),
    ("Conv1DTranspose(7, 3)", "(2, 10, 8)", "kernel", "[3, 7, 8]"),
    ("Conv2DTranspose(7, (3, 2))", "(2, 20, 20, 3)", "kernel", "[3, 2, 7, 3]"),
    ("Conv3DTranspose(7, 3)", "(2, 5, 5, 5, 3)", "kernel", "[3, 3, 3, 7, 3]"),
    ("LSTMCell(6)", "(4, 8)", "kernel", "[8, 24]"),
    ("LSTMCell(6)", "(4, 8)", "recurrent_kernel", "[6, 24]"),
    ("GRUCell(6)", "(4, 8)", "kernel", "[8, 18]"),
    ("GRUCell(6)", "(4, 8)", "recurrent_kernel", "[6, 18]"),
    ("SimpleRNNCell(6)", "(4, 8)", "kernel", "[8, 6]"),
    ("SimpleRNNCell(6)", "(4, 8)", "recurrent_kernel", "[6, 6]"),
]
HEAD = "import numpy as np\nfrom keras import layers, ops\n\n"


def called(layer: str, given: str) -> str:
    states = ", [np.zeros((4, 6))] * 2" if "LSTM" in layer else ", [np.zeros((4, 6))]" if "Cell" in layer else ""
    return f"{HEAD}layer = layers.{layer}\nlayer(np.zeros({given}){states})\n"


@pytest.mark.parametrize(("layer", "given", "name", "shape"), WEIGHTS)
def test_weights_by_name(layer: str, given: str, name: str, shape: str) -> None:
    assert revealed(f"{called(layer, given)}reveal_shape(layer.{name})\n") == [f"Tensor{shape}"]


def test_a_weight_is_used_as_any_tensor() -> None:
    tied = f"{called('Embedding(60, 32)', '(3, 4)')}ops.matmul(np.zeros((3, 4, 32)), layer.embeddings)\n"
    assert [error.code for error in errors_of(tied)] == ["SHP101"]
    assert errors_of(tied.replace("layer.embeddings", "ops.transpose(layer.embeddings)")) == []


def test_what_is_not_known_is_not_told() -> None:
    grouped = f"{called('Conv1D(8, 3, groups=2)', '(2, 10, 8)')}reveal_shape(layer.kernel)\n"
    assert "8, 8]" not in revealed(grouped)[0]
    several = f"{HEAD}for layer in [layers.Dense(n) for n in range(2, int(input()))]:\n    reveal_shape(layer.kernel)\n"
    assert errors_of(several) == []
