"""RNN with a cell gives what the layer of that name gives; so do cells on top of each other."""

from __future__ import annotations

from itertools import product

import pytest

from interp.programs import errors_of, revealed

HEAD = "import keras\nfrom keras import layers\nx = keras.Input((4, 3), batch_size=2)\n"
STATES = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}
"""How many states Keras 2.15 and 3.15 give behind the output."""


@pytest.mark.parametrize(("name", "sequences"), list(product(STATES, [False, True])))
def test_a_cell_in_rnn(name: str, sequences: bool) -> None:
    options = f"return_sequences={sequences}, return_state=True"
    names = ["out", *(f"state{place}" for place in range(STATES[name]))]
    asked = "".join(f"reveal_shape({each})\n" for each in names)
    text = f"{HEAD}{', '.join(names)} = layers.RNN(layers.{name}Cell(5), {options})(x)\n{asked}"
    assert revealed(text) == ["Tensor[2, 4, 5]" if sequences else "Tensor[2, 5]", *["Tensor[2, 5]"] * STATES[name]]
    wrong = f"{HEAD}only, = layers.RNN(layers.{name}Cell(5), {options})(x)\n"
    assert [each.code for each in errors_of(wrong)] == ["SHP306"]


@pytest.mark.parametrize(
    "cells", ["[layers.GRUCell(7), layers.LSTMCell(5)]", "layers.StackedRNNCells([layers.GRUCell(5)])"]
)
def test_cells_on_top_of_each_other(cells: str) -> None:
    text = f"{HEAD}rnn = layers.RNN({cells})\nreveal_shape(rnn(x))\n"
    assert revealed(text) == ["Tensor[2, 5]"]
    assert [each.code for each in errors_of(f"{text}rnn(keras.Input((4, 6)))\n")] == ["SHP401"]
    assert errors_of(f"{HEAD}a, b, c = layers.RNN({cells}, return_state=True)(x)\n") == []


def test_what_a_cell_of_the_program_gives_is_not_known() -> None:
    cell = "class Cell(layers.Layer):\n    state_size = 6\n    def call(self, x, states):\n        return x, states\n"
    assert errors_of(f"{HEAD}{cell}a, b, c, d = layers.RNN(Cell(), return_state=True)(x)\n") == []
