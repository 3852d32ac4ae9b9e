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


OWN = """class Cell(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.state_size = {state_size}

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units))
        self.loop = self.add_weight(shape=(self.units, self.units))

    def call(self, inputs, states):
        made = keras.ops.matmul(inputs, self.kernel) + keras.ops.matmul(states[0], self.loop)
        return made, {given}

"""
CELLS = [
    ("self.units", "[made]", "layers.RNN(Cell(6))(x)", "Tensor[2, 6]"),
    ("self.units", "made", "layers.RNN(Cell(6), return_sequences=True)(x)", "Tensor[2, 4, 6]"),
    ("[self.units, 9]", "[made, states[1]]", "layers.RNN(Cell(6), return_state=True)(x)[2]", "Tensor[2, 9]"),
    ("self.units", "[made]", "layers.RNN([Cell(6), layers.GRUCell(7), Cell(5)])(x)", "Tensor[2, 5]"),
    ("self.units", "[made]", "layers.RNN([layers.LSTMCell(7), Cell(8)], return_sequences=True)(x)", "Tensor[2, 4, 8]"),
    ("self.units + 1", "[made]", "layers.RNN(Cell(6))(x)", "SHP101"),
    ("self.units", "[made]", "layers.RNN([Cell(6), Cell(5)])(x) + keras.ops.zeros((2, 6))", "SHP102"),
]
"""How many sizes the states have, what a step hands on, a call, and what Keras 3.15 makes of it, given an array."""


@pytest.mark.parametrize(("sizes", "given", "call", "gives"), CELLS)
def test_a_cell_of_the_program(sizes: str, given: str, call: str, gives: str) -> None:
    text = HEAD + OWN.format(state_size=sizes, given=given) + f"reveal_shape({call})\n"
    assert (revealed(text) if gives[0] == "T" else [each.code for each in errors_of(text)]) == [gives]


INITIAL = [
    ("layers.LSTM(8)", "[s(2, 8), s(2, 8)]", None),
    ("layers.LSTM(8)", "(s(2, 8), s(2, 8))", None),
    ("layers.LSTM(8)", "[s(2, 8), s(2, 1)]", None),
    ("layers.LSTM(8)", "None", None),
    ("layers.LSTM(8)", "s(2, 2, 8)", None),
    ("layers.LSTM(8)", "[s(2, 6), s(2, 6)]", "LSTM needs a state with 8 features, gets [2, 6]"),
    ("layers.LSTM(8)", "[s(2, 1), s(2, 1)]", "LSTM needs a state with 8 features, gets [2, 1]"),
    ("layers.LSTM(8)", "[s(2, 8), s(2, 6)]", "LSTM needs a state with 8 features, gets [2, 6]"),
    ("layers.LSTM(8)", "[s(2, 8)]", "LSTM needs 2 states, gets 1"),
    ("layers.LSTM(8)", "[s(2, 1, 8), s(2, 1, 8)]", "LSTM needs a state with 2 axes, gets [2, 1, 8]"),
    ("layers.LSTM(8)", "[s(4, 8), s(4, 8)]", "LSTM: the input has a batch of 2, its state [4, 8] one of 4"),
    ("layers.GRU(8)", "s(2, 8)", None),
    ("layers.GRU(8)", "[s(2, 8)]", None),
    ("layers.GRU(8)", "s(2, 6)", "GRU needs a state with 8 features, gets [2, 6]"),
    ("layers.SimpleRNN(8)", "s(2, 6)", "SimpleRNN needs a state with 8 features, gets [2, 6]"),
    ("layers.RNN(layers.GRUCell(8))", "s(2, 8)", None),
    ("layers.RNN(layers.GRUCell(8))", "s(2, 6)", "needs a state with 8 features, gets [2, 6]"),
    ("layers.RNN(layers.LSTMCell(8))", "[s(2, 8), s(2, 6)]", "needs a state with 8 features, gets [2, 6]"),
    ("layers.Bidirectional(layers.LSTM(8))", "[s(2, 8)] * 4", None),
    ("layers.Bidirectional(layers.LSTM(8))", "[s(2, 8)] * 2 + [s(2, 6)] * 2", "needs a state with 8 features"),
    ("layers.Bidirectional(layers.LSTM(8))", "[s(2, 8)] * 2", "needs 2 states, gets 1"),
    ("layers.Bidirectional(layers.GRU(8))", "[s(2, 8)] * 2", None),
    ("layers.Bidirectional(layers.GRU(8))", "[s(2, 8), s(2, 5)]", "needs a state with 8 features, gets [2, 5]"),
]
"""What Keras 2.15 and 3.15 both take, and what both refuse, as states before the first step."""


@pytest.mark.parametrize("form", ["initial_state={}", "{}"])
@pytest.mark.parametrize(("layer", "states", "wrong"), INITIAL)
def test_states_before_the_first_step(layer: str, states: str, wrong: str | None, form: str) -> None:
    text = f"{HEAD}s = lambda *sizes: keras.ops.zeros(sizes)\n{layer}(x, {form.format(states)})\n"
    found = errors_of(text)
    assert [each.code for each in found] == (["SHP405"] if wrong else [])
    assert not wrong or wrong in found[0].message


@pytest.mark.parametrize(("width", "code"), [(6, []), (5, ["SHP101"])])
def test_states_that_a_cell_of_the_program_gets(width: int, code: list[str]) -> None:
    own = OWN.format(state_size="self.units", given="[made]")
    text = f"{HEAD}{own}\nlayers.RNN(Cell(6))(x, initial_state=keras.ops.zeros((2, {width})))\n"
    assert [each.code for each in errors_of(text)] == code


@pytest.mark.parametrize(("name", "count"), [("LSTM", 2), ("GRU", 1), ("SimpleRNN", 1)])
def test_states_of_a_cell_that_is_called(name: str, count: int) -> None:
    for width, codes in ((8, []), (6, ["SHP405"])):
        text = f"{HEAD}layers.{name}Cell(8)(keras.ops.zeros((2, 3)), [keras.ops.zeros((2, {width}))] * {count})\n"
        assert [each.code for each in errors_of(text)] == codes
