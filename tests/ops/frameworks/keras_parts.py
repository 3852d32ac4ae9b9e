"""The ways to the parts of Keras' layers and models, as programs write them, and what each gives for real.

`PYTHONPATH=tests PYTHON -m ops.frameworks.keras_parts HEAD OUT.json`, with a Python that has Keras; HEAD is how programs import
it ("from tensorflow import keras"). For each form the shape of what it gave, null where it ended in an error.
"""

from __future__ import annotations

import json
import sys
from typing import Any

HEAD = "import numpy as np\nfrom collections import Counter\nlayers = keras.layers\n"
LAYERS = {
    "layers.Dense(5)": (4, 8),
    "layers.Dense(5, use_bias=False)": (4, 10, 8),
    "layers.Embedding(60, 32)": (3, 4),
    "layers.Conv1D(7, 3)": (2, 10, 8),
    "layers.Conv2D(6, (3, 5), groups=3)": (2, 20, 20, 3),
    "layers.Conv2D(7, 3, use_bias=False)": (2, 20, 20, 3),
    "layers.Conv3D(2, 3)": (2, 9, 9, 9, 4),
    "layers.Conv2DTranspose(7, (3, 2))": (2, 20, 20, 3),
    "layers.DepthwiseConv2D(3, depth_multiplier=2)": (2, 20, 20, 3),
    "layers.DepthwiseConv1D(3)": (2, 20, 3),
    "layers.SeparableConv2D(7, 3)": (2, 20, 20, 3),
    "layers.SeparableConv1D(7, 3, depth_multiplier=4, use_bias=False)": (2, 20, 3),
    "layers.BatchNormalization()": (2, 20, 20, 3),
    "layers.BatchNormalization(scale=False)": (2, 5),
    "layers.BatchNormalization(axis=1, center=False)": (2, 7, 20, 3),
    "layers.LayerNormalization()": (2, 20, 6),
    "layers.LayerNormalization(axis=[1, 2])": (2, 20, 6),
    "layers.LayerNormalization(center=False)": (2, 20, 6),
    "layers.GroupNormalization(2)": (2, 20, 6),
    "layers.LSTM(6)": (4, 3, 8),
    "layers.LSTM(6, use_bias=False)": (4, 3, 8),
    "layers.GRU(6)": (4, 3, 8),
    "layers.GRU(6, reset_after=False)": (4, 3, 8),
    "layers.SimpleRNN(6)": (4, 3, 8),
    "layers.Bidirectional(layers.LSTM(6))": (4, 3, 8),
    "layers.TimeDistributed(layers.Dense(5))": (4, 3, 8),
    "layers.RNN(layers.GRUCell(6))": (4, 3, 8),
    "layers.PReLU()": (4, 3),
    "layers.Dropout(0.1)": (4, 3),
    "layers.Flatten()": (4, 3, 2),
    "layers.MaxPooling2D()": (4, 8, 8, 3),
    "layers.Activation('relu')": (4, 3),
    "layers.ReLU()": (4, 3),
    "layers.Conv1DTranspose(3, 2)": (2, 10, 8),
    "layers.SpatialDropout1D(0.1)": (4, 3, 2),
    "layers.AveragePooling1D(2)": (4, 8, 3),
}
"""Layers, and the shape of their first input."""
OF_LAYERS = """
np.zeros(len(layer.weights))
np.zeros(len(layer.get_weights()))
np.zeros(len(layer.trainable_weights))
np.zeros(len(layer.trainable_variables))
np.zeros(len(layer.non_trainable_weights))
np.zeros(layer.count_params())
layer.weights[0]
layer.get_weights()[0]
layer.get_weights()[-1]
layer.trainable_variables[-1]
np.zeros(sum(w.shape[-1] for w in layer.weights))
""".split("\n")[1:-1]
NAMED = "kernel bias embeddings depthwise_kernel pointwise_kernel gamma beta moving_mean moving_variance alpha"
CLASSES = """
Activation BatchNormalization Bidirectional Conv1D Conv2D Convolution2D Conv2DTranspose Dense DepthwiseConv2D Dropout
Embedding Flatten GRU InputLayer LSTM Layer LayerNormalization MaxPool2D MaxPooling2D RNN ReLU SeparableConv2D SimpleRNN
SpatialDropout1D TimeDistributed
""".split()
MODELS = """
inputs = keras.Input((8,), name="given")
hidden = layers.Dense(16, activation="relu", name="first")(inputs)
hidden = layers.BatchNormalization(name="norm")(hidden)
hidden = layers.Dropout(0.5)(hidden)
outputs = layers.Dense(3, name="last")(hidden)
chain = keras.Model(inputs, outputs, name="chain")

row = keras.Sequential([keras.Input((8,)), layers.Dense(16), layers.ReLU(), layers.Dense(3, use_bias=False)])
late = keras.Sequential([layers.Dense(16, name="wide"), layers.Dense(3)])
late.build((None, 8))
called = keras.Sequential([layers.Dense(16), layers.Dense(3)])
called(np.zeros((2, 8), "float32"))
added = keras.Sequential()
added.add(keras.Input((8,)))
added.add(layers.Dense(6))
added.add(layers.Dense(4))
picture = keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(4, 3), layers.Flatten(), layers.Dense(2)])

one, two = keras.Input((8,)), keras.Input((5,))
joined = layers.concatenate([layers.Dense(6, name="left")(one), layers.Dense(7, name="right")(two)])
forked = keras.Model([one, two], layers.Dense(2, name="end")(joined))

class Own(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.one = layers.Dense(width)
        self.many = [layers.Dense(width + n) for n in range(2)]
        self.norm = layers.BatchNormalization()

    def call(self, x, training=False):
        x = self.one(x)
        for layer in self.many:
            x = layer(x)
        return self.norm(x)

own = Own(6)
own(np.zeros((2, 8), "float32"))

class Scaled(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), name="w")
        self.b = self.add_weight(shape=(self.units,), name="b", trainable=False)

    def call(self, x):
        return x @ self.w + self.b

scaled = Scaled(5)
scaled(np.zeros((2, 8), "float32"))
nested = keras.Sequential([keras.Input((8,)), chain, layers.Dense(9)])

class Block(layers.Layer):
    def __init__(self, width, **options):
        super().__init__(**options)
        self.inner = keras.Sequential([layers.Dense(width, activation="relu"), layers.Dense(width)])
        self.norm = layers.LayerNormalization()

    def call(self, x):
        return self.norm(x + self.inner(x))

class Same(layers.Layer):
    def call(self, x):
        return x

rows = keras.Input((None, 8))
steps = layers.Conv1D(6, 3, padding="same")(rows)
for number in range(2):
    steps = Same(name=f"same{number}")(Block(6, name=f"block{number}")(steps))
blocked = keras.Model(rows, layers.GlobalMaxPooling1D()(steps))
x8, x5 = np.zeros((2, 8), "float32"), np.zeros((2, 5), "float32")
"""
OF_MODELS = """
np.zeros(len(MODEL.layers))
np.zeros(len(MODEL.weights))
np.zeros(len(MODEL.trainable_weights))
np.zeros(len(MODEL.trainable_variables))
np.zeros(len(MODEL.non_trainable_weights))
np.zeros(len(MODEL.get_weights()))
np.zeros(MODEL.count_params())
MODEL.weights[0]
MODEL.get_weights()[1]
MODEL.get_weights()[-1]
MODEL.trainable_variables[0]
MODEL.layers[-1].get_weights()[0]
np.zeros(sum(int(np.prod(w.shape)) for w in MODEL.trainable_weights))
keras.models.clone_model(MODEL).get_weights()[0]
""".split("\n")[1:-1]
WHICH = "chain row late called added picture forked own scaled nested blocked".split()
SINGLE = """
np.zeros(chain.input_shape[-1])
np.zeros(chain.output_shape[-1])
np.zeros(row.input_shape[-1])
np.zeros(late.output_shape[-1])
np.zeros(chain.layers[1].units)
chain.get_layer("first").kernel
chain.get_layer("last").bias
chain.get_layer("norm").gamma
chain.get_layer("first").get_weights()[0]
chain.get_layer(index=1).weights[0]
chain.get_layer("first")(x8)
forked.get_layer("left").kernel
forked.get_layer("right").get_weights()[1]
forked.get_layer("left")(x8)
chain.layers[-1].kernel
[layer for layer in chain.layers if layer.get_weights()][0].kernel
[layer for layer in chain.layers if isinstance(layer, layers.Dense)][1].kernel
{layer.name: layer for layer in chain.layers}["last"].kernel
keras.Model(chain.input, chain.layers[-2].output)(x8)
keras.Model(chain.inputs, chain.get_layer("first").output)(x8)
keras.Model(chain.input, chain.get_layer("norm").output).predict(x8, verbose=0)
keras.Model(row.input, row.layers[0].output)(x8)
keras.Model(inputs=chain.input, outputs=layers.Dense(11)(chain.layers[-2].output))(x8)
keras.Model(inputs=picture.inputs, outputs=picture.layers[0].output)(np.zeros((2, 16, 16, 3), "float32"))
keras.Sequential(chain.layers[1:-1])(x8)
keras.Sequential(row.layers[:-1])(x8)
keras.Sequential([*row.layers, layers.Dense(4)])(x8)
keras.models.clone_model(row)(x8)
keras.models.clone_model(chain).get_layer("first").kernel
keras.Sequential.from_config(row.get_config())(x8)
keras.Model.from_config(chain.get_config())(x8)
layers.Dense.from_config(layers.Dense(5).get_config())(x8)
row.layers[0](x8)
row.layers[0].call(x8)
row.call(x8)
chain.call(x8)
own.call(x8)
own.one.call(x8)
row.predict(x8, verbose=0)
row.predict_on_batch(x8)
own.one.kernel
own.many[1].kernel
own.many[-1].get_weights()[0]
own.norm.moving_mean
own.layers[0].kernel
scaled.w
scaled.weights[0]
scaled.get_weights()[1]
scaled.trainable_weights[0]
nested.layers[0](x8)
nested.layers[0].get_layer("first").kernel
nested.layers[-1].kernel
np.zeros(chain.get_layer("first").units)
np.zeros(row.layers[-1].kernel.shape[0])
np.zeros(len(chain.inputs))
np.zeros(len(forked.inputs))
np.zeros(len(forked.input))
np.zeros(chain.output.shape[-1])
np.zeros(forked.input[1].shape[-1])
np.zeros(chain.get_layer("first").output.shape[-1])
np.zeros(chain.layers[1].input.shape[-1])
np.zeros(chain.layers[-1].input.shape[-1])
np.zeros(2 + row.built)
np.zeros(2 + chain.layers[1].built)
np.zeros(2 + chain.trainable)
np.zeros(2 + layers.Dense(3).built)
np.zeros(len(layers.Dense(3).weights) + 1)
np.zeros(len(chain.name))
np.zeros(len(chain.get_layer("first").name))
np.concatenate([w.flatten() for w in chain.get_weights()])
np.zeros(sum(w.size for w in row.get_weights()))
np.zeros(sum(np.prod(v.shape) for v in chain.trainable_variables))
[w.T for w in row.get_weights()][0]
np.zeros(len([layer for layer in own.layers if isinstance(layer, layers.Dense)]))
own.get_layer(index=0).kernel
np.zeros(len(own.layers))
blocked.get_layer("block1").inner.layers[0].kernel
keras.Model(blocked.input, blocked.get_layer("block0").output)(np.zeros((2, 4, 8), "float32"))
np.zeros(blocked.layers[-1].input.shape[-1])
layers.MultiHeadAttention(4, 8)(np.zeros((2, 5, 8)), np.zeros((2, 3, 8)), return_attention_scores=True)[1]
layers.MultiHeadAttention(4, 8)(np.zeros((2, 5, 8)), np.zeros((2, 3, 8)), return_attention_scores=True)[0]
""".split("\n")[1:-1]
CHANGED = """
row.pop(); reveal(row(x8))
row.pop(); row.add(layers.Dense(7)); reveal(row(x8))
row.add(layers.Dense(7)); reveal(row(x8))
row.layers[0].trainable = False; reveal(np.zeros(len(row.trainable_weights)))
chain.trainable = False; reveal(np.zeros(1 + len(chain.trainable_weights)))
chain.get_layer("first").trainable = False; reveal(np.zeros(len(chain.trainable_weights)))
row.set_weights(row.get_weights()); reveal(row(x8))
row.layers[0].set_weights([np.ones((8, 16)), np.zeros(16)]); reveal(row(x8))
late.set_weights(called.get_weights()); reveal(late(x8))
d = layers.Dense(4); d.build((None, 8)); reveal(d.kernel)
d = layers.Dense(4); d.build((None, 8)); reveal(d.get_weights()[1])
d = layers.LSTM(4); d.build((None, 3, 8)); reveal(d.get_weights()[1])
d = layers.Conv2D(4, 3); d.build((None, 9, 9, 8)); reveal(d.get_weights()[0])
e = layers.Embedding(60, 5, weights=[np.zeros((60, 5))]); reveal(e(np.zeros((2, 3))))
own.one.set_weights([np.zeros((8, 6)), np.zeros(6)]); reveal(own(x8))
scaled.w.assign(np.zeros((8, 5))); reveal(scaled.w)
chain.get_layer("first").kernel.assign(np.zeros((8, 16))); reveal(chain.get_layer("first").kernel)
clone = keras.models.clone_model(row); clone.set_weights(row.get_weights()); reveal(clone(x8))
fresh = Own(6); fresh.build((None, 8)); reveal(fresh.one.kernel)
fresh = Own(6); fresh(x8); fresh.set_weights(own.get_weights()); reveal(fresh(x8))
""".split("\n")[1:-1]
REFUSED = """
row.set_weights(row.get_weights()[1:])
row.layers[0].set_weights([np.ones((8, 15)), np.zeros(16)])
row.layers[0].set_weights([np.ones((8, 16))])
row.layers[2].set_weights([np.ones((16, 3)), np.zeros(3)])
late.set_weights(row.get_weights())
chain.get_layer("first").set_weights([np.ones((16, 8)), np.zeros(16)])
chain.get_layer("norm").set_weights([np.ones(16)])
e = layers.Embedding(60, 5, weights=[np.zeros((61, 5))]); e(np.zeros((2, 3)))
e = layers.Embedding(60, 5, weights=[np.zeros((60, 4))]); e(np.zeros((2, 3)))
scaled.w.assign(np.zeros((5, 8)))
chain.get_layer("first").kernel.assign(np.zeros((16, 8)))
own.one.set_weights([np.zeros((6, 8)), np.zeros(6)])
own.set_weights(own.get_weights()[:-1])
d = layers.Dense(4); d.build((None, 8)); d(x5)
d = layers.Dense(4); d.build((None, 8)); d.set_weights([np.zeros((4, 8)), np.zeros(4)])
late.add(layers.Dense(3)); late.layers[-1].set_weights([np.zeros((4, 3)), np.zeros(3)])
""".split("\n")[1:-1]


def programs() -> list[tuple[str, str]]:
    """What stands before, and a form: statements that may end in `reveal(...)`, or an expression."""
    found = []
    for layer, given in LAYERS.items():
        before = f"layer = {layer}\nlayer(np.zeros({given}, 'float32'))\n"
        found += [(before, form) for form in [*OF_LAYERS, *(f"layer.{name}" for name in NAMED.split())]]
        found += [(before, f"np.zeros(1 + isinstance(layer, layers.{name}))") for name in CLASSES]
    found += [(MODELS, form.replace("MODEL", model)) for model in WHICH for form in OF_MODELS]
    return found + [(MODELS, form) for form in [*SINGLE, *CHANGED, *REFUSED]]


def given(names: dict[str, Any], form: str) -> Any:
    """The shape of what a form reveals; True where it reveals nothing, None where it ends in an error."""
    seen: list[Any] = []
    try:
        if form in CHANGED or form in REFUSED:
            exec(form, {**names, "reveal": seen.append})
        else:
            seen.append(eval(form, names))
        return [int(size) for size in seen[0].shape] if seen else True
    except Exception as error:
        print(form, type(error).__name__, str(error)[:150].replace("\n", " "))
        return None


def main() -> None:
    """Write the record."""
    found, made, last = [], dict[str, Any](), ""
    for before, form in programs():
        if before != last or form in CHANGED or form in REFUSED:
            made = {}
            exec(f"{sys.argv[1]}\n{HEAD}{before}", made)
            last = before
        found.append([form, given(made, form)])
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in found)
        file.write(f'{{"head":{json.dumps(sys.argv[1])},"given":[\n{lines}]}}\n')


if __name__ == "__main__":
    main()
