"""Runs short programs for real and writes which of them ended without an error.

`PYTHONPATH=tests PYTHON -m ops.frameworks.record_programs tensorflow|keras|jax OUT.json`, with a Python that has the library.
"""

from __future__ import annotations

import json
import sys
from itertools import chain

from ops.frameworks import given_by_name, handed_out, looped, taken_apart

_TF = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\n"
_GENERATED = (
    "def rows():\n    for n in (3, 5, 4):\n        yield np.zeros(n, 'int32'), np.zeros((n, 2), 'float32')\n"
    "made = tf.data.Dataset.from_generator(rows, {})\n"
)
_TYPES = "output_types=(tf.int32, tf.float32)"


def _ensured(head: str, data: str, *checks: str) -> list[str]:
    """A program for each check of the parts `a` and `b` of an element."""
    return [f"{head}data = {data}\nfor a, b in data.take(1):\n    {check}\n" for check in checks]


def _generated(declared: str, chained: str, *checks: str) -> list[str]:
    return _ensured(_TF + _GENERATED.format(declared), f"made{chained}", *checks)


_STEPS = """class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.wide = keras.layers.Dense(4)

    def call(self, codes):
        return self.wide(codes)

    def STEP(self, data):
        BODY
        return {"loss": tf.reduce_mean(made)}


model = Own()
model.compile("sgd", "mse")
model.CALL
"""
_BODIES = (
    "x, y = data\n        made = self(x, training=True) - y",
    "made = self(data[0] if isinstance(data, tuple) else data) + tf.zeros((4,))",
    "x, y = data\n        made = tf.concat([self(x), y, x], 1) @ tf.zeros((11, 2))",
)
_ROWS = "np.zeros((8, 3), 'float32')", "np.zeros((8, 4), 'float32')", "np.zeros((8, 5), 'float32')"
_CALLS = (
    *(f"{name}({_ROWS[0]}, {rows}, verbose=0)" for name in ("fit", "evaluate") for rows in _ROWS[1:]),
    *(f"{name}({_ROWS[0]}, verbose=0)" for name in ("fit", "evaluate")),
    *(f"fit(tf.data.Dataset.from_tensor_slices(({_ROWS[0]}, {rows})).batch(4), verbose=0)" for rows in _ROWS[1:]),
    *(f"{name}_on_batch({_ROWS[0]}, {_ROWS[1]})" for name in ("train", "test")),
)
_SHAPES = "tf.ensure_shape(a, [{}])", "tf.ensure_shape(b, [{}])"
_SERIES = (
    "keras.utils.timeseries_dataset_from_array(np.zeros((50, 3), 'float32'), np.zeros((50, 2), 'float32'),"
    " sequence_length=7, batch_size={})"
)
TENSORFLOW = list(
    chain(
        (
            _TF + _STEPS.replace("STEP", step).replace("BODY", body).replace("CALL", asked)
            for step in ("train_step", "test_step")
            for body in _BODIES
            for asked in _CALLS
            if step == "train_step"
            or asked != f"fit({_ROWS[0]}, verbose=0)"  # the loss lacks labels, whatever their sizes
        ),
        _generated(f"{_TYPES}, output_shapes=([None], [None, 2])", "", "b @ tf.zeros((2, 4))", "b @ tf.zeros((3, 4))"),
        _generated(_TYPES, "", "b @ tf.zeros((2, 4))"),
        *(
            _generated(
                f"{_TYPES}, output_shapes=(tf.TensorShape([None]), tf.TensorShape([None, 2]))",
                ".padded_batch(2, padded_shapes=([6], [6, 2]), drop_remainder=True)",
                _SHAPES[0].format(f"2, {first}"),
                _SHAPES[1].format(f"2, 6, {second}"),
            )
            for first, second in ((6, 2), (7, 2), (6, 3), (5, 2))
        ),
        *(
            _ensured(_TF, _SERIES.format(size), f"tf.ensure_shape(a, [{asked}])")
            for size, asked in (
                (4, "4, 7, 3"),
                (4, "None, 7, 3"),
                (4, "None, 7, 2"),
                (4, "None, 3, 7"),
                ("None", "7, 3"),
                ("None", "7, 4"),
            )
        ),
        *(
            [f"{_TF}rows = keras.preprocessing.sequence.pad_sequences({rows})\nrows @ np.ones(({size}, 3))\n"]
            for rows in ("[[1, 2], [3, 4]], maxlen=5", "[[1, 2], [3, 4]], 5, padding='post'")
            for size in (5, 6, 2)
        ),
        *(
            [
                (
                    f"{_TF}norm = keras.layers.Normalization(axis={axis})\nnorm.adapt(np.ones((4, 3)))\n"
                    f"norm(np.ones((2, 3))) @ tf.ones(({size}, 3))\n"
                )
            ]
            for axis in (-1, None)
            for size in (3, 4)
        ),
        (
            f"import tensorflow as tf\nmade = tf.{name}_initializer()((2, 3))\nmade + tf.ones(({size},))\n"
            for name in ("random_normal", "zeros")
            for size in (3, 2)
        ),
        given_by_name.programs(_TF, "tf.reduce_mean", "**more"),
        handed_out.programs(_TF, "keras.utils.Sequence", own=True),
    )
)
_OWN = {
    "def loss(y_true, y_pred):\n    return ops.mean(ops.abs(y_true - y_pred), axis=-1)\n": "loss",
    "class Own(keras.losses.Loss):\n    def call(self, y_true, y_pred):\n"
    "        return ops.mean(ops.square(y_true - y_pred), axis=-1)\n": "Own()",
    "class Pinball(keras.losses.Loss):\n    def __init__(self, levels):\n        super().__init__()\n"
    "        self.levels = levels\n    def call(self, y_true, y_pred):\n"
    "        error = ops.expand_dims(y_true, -1) - ops.expand_dims(y_pred, -1)\n"
    "        return ops.mean(ops.maximum(error * self.levels, error), axis=(-1, -2))\n": "Pinball(np.ones(3, 'float32'))",
}
_KERAS = "import numpy as np\nimport keras\nfrom keras import ops\n"
_EMBEDDING = "table = keras.layers.Embedding(input_dim=9, output_dim=4)\n"
_BASE = "base = keras.applications.{}(input_shape=(64, 64, 3), include_top=False, weights=None, alpha=0.25)\n"
KERAS = [
    *(
        f"{_KERAS}{source}model = keras.Sequential([keras.Input((5,)), keras.layers.Dense({width})])\n"
        f"model.compile('sgd', {name})\nmodel.fit(np.ones((8, 5)), np.ones((8, {wanted})), verbose=0)\n"
        for source, name in _OWN.items()
        for width, wanted in ((3, 3), (3, 2), (2, 3), (4, 4))
    ),
    *(
        f"{_KERAS}{source}{name}(ops.ones((4, 3)), ops.ones((4, {width}))){weighted} + ops.ones({sizes})\n"
        for source, name in list(_OWN.items())[1:]
        for width, sizes, weighted in ((3, "(2, 2)", ""), (2, "(2,)", ""), (3, "(5,)", ""))
    ),
    *(
        f"{_KERAS}{source}{name}(ops.ones((4, 3)), ops.ones((4, {width})), sample_weight=ops.ones((4,)))\n"
        for source, name in list(_OWN.items())[1:]
        for width in (3, 2)
    ),
    *(
        f"{_KERAS}{_EMBEDDING}table(ops.arange(start=0, stop=5, step=1)) + ops.ones({size})\n"
        for size in ("(5, 4)", "(5, 9)")
    ),
    *(
        f"{_KERAS}{_BASE.format(name)}base(ops.ones((1, 64, 64, 3))) + ops.ones((1, 2, 2, {size}))\n"
        for name, sizes in (("MobileNet", (256, 1024)), ("MobileNetV2", (1280, 320)))
        for size in sizes
    ),
    *given_by_name.programs(_KERAS, "ops.mean", "training=True"),
    *handed_out.programs(_KERAS, "keras.utils.PyDataset", own=False),
]
_JAX = "import jax\nimport jax.numpy as jnp\nfrom jax import lax\n"
_TRANSPOSED = "made = lax.conv_transpose(jnp.ones({image}), jnp.ones({kernel}), {options})\nmade + jnp.ones({sizes})\n"
_GROWN = [
    ("(2, 4, 3)", "({k}, 3, 5)", f"({stride},), {padding}{more}", "(1, {n}, 1)", kernel)
    for stride in (1, 2, 4)
    for kernel in (2, 3)
    for padding in ("'SAME'", "'VALID'", "[(1, 2)]", "[(2, 2)]")
    for more in ("", ", rhs_dilation=(2,)")
]
_ORDERED = [
    (
        "(2, 3, 4, 4)",
        "(3, 3, {k}, 5)",
        "(2, 2), 'SAME', dimension_numbers=('NCHW', 'HWIO', 'NCHW')",
        "(1, {n}, 8, 8)",
        3,
    ),
    (
        "(2, 4, 4, 3)",
        "(3, 3, {k}, 5)",
        "(2, 2), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')",
        "(1, 8, 8, {n})",
        3,
    ),
    ("(2, 4, 4, 3)", "(3, 3, {k}, 5)", "(2, 2), 'SAME'", "(1, 8, 8, {n})", 4),
]
_LIFTED = """import flax.linen as nn


class Layer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, carry, x, y):
        wide = jnp.concatenate([carry, x], -1)
        return nn.Dense(self.width)(wide), (nn.Dense(2)(wide), y)


class Many(nn.Module):
    @nn.compact
    def __call__(self, carry, xs, y):
        layer = nn.TRANSFORM
        return layer(WIDTH)(carry, xs, y)


made, _ = Many().init_with_output(jax.random.key(0), jnp.ones(CARRY), jnp.ones((3, 4, 6)), jnp.ones(7))
leaves = jax.tree.leaves(made)
leaves[0] + jnp.zeros((4, 5))
leaves[1] + jnp.zeros(OUT)
"""
_SCAN = "scan(Layer, variable_broadcast='params', split_rngs={{'params': False}}, in_axes=({}, nn.broadcast), out_axes=({}, 0))"
_VECTORIZED = [
    ("lambda m, v: m @ v, signature='(i,j),(j)->(i)'", "jnp.ones((2, 3, 4)), jnp.ones({v})"),
    ("lambda a, b: jnp.sum(a * b), signature='(n),(n)->()'", "jnp.ones((2, 3, 4)), jnp.ones({v})"),
    ("lambda a: (a, a.mean()), signature='(n)->(n),()'", "jnp.ones({v})"),
]
_TREES = """leaves, tree = jax.tree.flatten({'b': jnp.ones(3), 'a': (jnp.ones((2, 4)), 1.0)})
leaves[{place}] + jnp.ones({size})
"""
_ELEMENTS = """def field(layers, x):
    for layer in layers[:-1]:
        x = jnp.tanh(x @ layer['w'])
    out = x @ layers[-1]['w']
    return out[:3], out[3]
layers = [{'w': jnp.ones((3, 6))}, {'w': jnp.ones((6, 6))}, {'w': jnp.ones((6, 4))}]
colors, density = jax.vmap(lambda x: field(layers, x))(jnp.ones((8, 3)))
density + jnp.ones(SIZE)
image, depth = lax.map(lambda pair: field(layers, pair[0]), (jnp.ones((6, 3)), jnp.ones((6, 2))))
image.reshape(ASKED)
"""
JAX = [
    *(
        f"{_JAX}{_TRANSPOSED}".format(image=image, kernel=kernel.format(k=k), options=options, sizes=sizes.format(n=n))
        for image, kernel, options, sizes, k in _GROWN
        for n in (7, 8, 9)
    ),
    *(
        f"{_JAX}{_TRANSPOSED}".format(image=image, kernel=kernel.format(k=k), options=options, sizes=sizes.format(n=n))
        for image, kernel, options, sizes, k in _ORDERED
        for n in (5, 3)
    ),
    *(
        f"{_JAX}made = jnp.vectorize({made})({given})\n".format(v=v) + f"jax.tree.leaves(made)[0] + jnp.ones({out})\n"
        for made, given in _VECTORIZED
        for v in ("(4,)", "(2, 4)", "(3, 4)", "(5, 1, 4)", "(3,)", "()")
        for out in ("(2, 3)", "(2, 7)")
    ),
    *(
        _JAX + _LIFTED.replace("TRANSFORM", made).replace("WIDTH", width).replace("CARRY", carry).replace("OUT", out)
        for made in (_SCAN.format(0, 0), _SCAN.format(0, 1), _SCAN.format(-3, -1))
        for width, carry in (("5", "(4, 5)"), ("6", "(4, 5)"), ("5", "(3, 5)"))
        for out in ("(3, 4, 2)", "(4, 3, 2)", "(4, 2, 3)")
    ),
    *(
        _JAX
        + _LIFTED.replace(
            "TRANSFORM", f"vmap(Layer, variable_axes={{'params': 0}}, split_rngs={{'params': True}}, {axes})"
        )
        .replace("WIDTH", "5")
        .replace("CARRY", carry)
        .replace("[0] + jnp.zeros((4, 5))", "[0] + jnp.zeros((3, 4, 5))")
        .replace("OUT", out)
        for axes in (
            "in_axes=(None, 0, None), out_axes=(0, 1)",
            "in_axes=(0, 0, None), out_axes=0",
            "in_axes=0, axis_size=3",
        )
        for carry in ("(4, 5)", "(3, 4, 5)")
        for out in ("(3, 4, 2)", "(4, 3, 2)")
    ),
    *(
        _JAX + _TREES.replace("{place}", str(place)).replace("{size}", size)
        for place in range(3)
        for size in ("(2, 4)", "(3,)", "(5,)")
    ),
    *(
        _JAX + _ELEMENTS.replace("SIZE", size).replace("ASKED", asked)
        for size, asked in (("8", "(2, 3, 3)"), ("7", "(2, 3, 3)"), ("8", "(2, 3, 2)"), ("8", "(3, 6)"))
    ),
]
PROGRAMS = {
    name: list(dict.fromkeys([*texts, *taken_apart.PROGRAMS.get(name, ()), *looped.PROGRAMS[name]]))
    for name, texts in (("tensorflow", TENSORFLOW), ("keras", KERAS), ("jax", JAX))
}


def ends(text: str) -> bool:
    """Whether a program ends without an error."""
    try:
        exec(compile(text, "program", "exec"), {"__name__": "__main__"})
    except Exception as error:
        print(type(error).__name__, str(error)[-150:].replace("\n", " "))
        return False
    return True


def main() -> None:
    """Write the record of one library."""
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({text: ends(text) for text in PROGRAMS[sys.argv[1]]}, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
