"""The layers of a model by name and place, and what each made of its input, as Keras 2.15 and 3.15 tell."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, revealed

HEAD = """import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers as L

row = keras.Sequential([keras.Input((8,)), L.Dense(4, name="a"), L.Dense(2, name="b")])
grown = keras.Sequential()
grown.add(L.InputLayer(input_shape=(8,)))
for width in (6, 5):
    grown.add(L.Dense(width, name=f"wide{width}"))
x = keras.Input((8,))
h = L.Dense(4, name="h")(x)
n = L.Concatenate(name="n")([h, x])
graph = keras.Model(x, L.Dense(2, name="o")(n))
c = keras.Input((8,))
chain = keras.Model(c, L.Dense(2)(L.ReLU()(L.Dense(4)(c))))
flat = chain.layers[-1]
again = keras.Model(c, flat(L.Dense(4)(flat(L.Dense(4)(c)))))
nested = keras.Model(c, L.Dense(5)(keras.Sequential([L.Dense(7), L.Dense(6)])(c)))
apart = L.Dense(3, name="apart")
apart(tf.zeros((2, 4)))
twice = L.Dense(3)
twice(tf.nn.relu(h))
"""
TOLD = [
    ("len(row.layers)", "2"),
    ("len(grown.layers)", "2"),
    ("row.get_layer('a').output", "Tensor[batch, 4]"),
    ("row.layers[-2].output", "Tensor[batch, 4]"),
    ("row.layers[-1].output", "Tensor[batch, 2]"),
    ("grown.get_layer('wide5').output", "Tensor[batch, 5]"),
    ("graph.get_layer('n').output", "Tensor[batch, 12]"),
    ("keras.Model(graph.input, graph.get_layer('n').output)(tf.zeros((3, 8)))", "Tensor[3, 12]"),
    ("keras.Model(row.inputs, row.get_layer('a').output)(tf.zeros((3, 8)))", "Tensor[3, 4]"),
    ("keras.Sequential(row.layers[:-1])(tf.zeros((3, 8)))", "Tensor[3, 4]"),
    ("len(chain.layers)", "4"),
    ("chain.layers[1].output", "Tensor[batch, 4]"),
    ("chain.layers[0]", "InputLayer"),
    ("chain.layers[-2].output", "Tensor[batch, 4]"),
    ("chain.get_layer(index=3).output", "Tensor[batch, 2]"),
    ("chain.get_layer(index=4)", "unknown"),
    ("row.get_layer(index=0).output", "Tensor[batch, 4]"),
    ("len(nested.layers)", "3"),
    ("nested.layers[1](tf.zeros((3, 8)))", "Tensor[3, 6]"),
    ("again.layers", "[InputLayer, Dense, Dense, Dense]"),
    ("graph.layers", "[InputLayer, Dense, Concatenate, Dense]"),
    ("graph.get_layer('none')", "unknown"),
    ("graph.get_layer('apart')", "unknown"),
    ("apart.output", "unknown"),
    ("twice.output", "unknown"),
    ("again.weights", "[Tensor[8, 4], Tensor[4], Tensor[4, 2], Tensor[2], Tensor[2, 4], Tensor[4]]"),
    ("graph.get_layer('h').trainable_variables", "[Tensor[8, 4], Tensor[4]]"),
    ("graph.get_layer('h').losses", "unknown"),
    ("graph.get_layer('h').dtype", "unknown"),
    ("graph.get_layer(index=1)", "Dense"),
]


@pytest.mark.parametrize(("text", "told"), TOLD)
def test_layers_of_models(text: str, told: str) -> None:
    assert revealed(f"{HEAD}reveal_shape({text})\n") == [told]


@pytest.mark.parametrize(("width", "codes"), [(12, []), (4, ["SHP401"])])
def test_a_head_on_an_inner_layer(width: int, codes: list[str]) -> None:
    head = f"y = keras.Input(({width},))\nhead = keras.Model(y, L.Dense(1)(y))\n"
    found = errors_of(f"{HEAD}{head}head(graph.get_layer('n').output)\n")
    assert [each.code for each in found] == codes


def test_one_of_many_layers_of_a_name_is_not_known() -> None:
    text = "x = keras.Input((8,))\nfor i in range(2):\n    x = L.Dense(4 + i, name='same')(x)\n"
    text += "reveal_shape(keras.Model(h, x).get_layer('same'))\n"
    assert revealed(f"{HEAD}{text}") == ["unknown"]


OUTPUTS = [
    ("h", "{}", ["SHP101"]),
    ("(h,)", "{}[0]", ["SHP101"]),
    ("{'h': h}", "{}['h']", ["SHP101"]),
    ("[h, n]", "{}[0]", ["SHP101"]),
    ("[h]", "{}", []),
    ("[h]", "{}[0]", []),
]


@pytest.mark.parametrize(("outputs", "read", "codes"), OUTPUTS)
def test_one_output_in_a_list_is_itself_or_a_list(outputs: str, read: str, codes: list[str]) -> None:
    """Keras 2 gives the tensor, Keras 3 a list of it; all else is given as the model was."""
    made = f"made = keras.Model(x, {outputs})(tf.zeros((3, 8)))\n"
    found = errors_of(f"{HEAD}{made}tf.matmul({read.format('made')}, tf.zeros((5, 2)))\n")
    assert [each.code for each in found] == codes
