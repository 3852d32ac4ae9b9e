"""Loops whose steps are functions, products of turned matrices, what a module keeps beside its parameters: all run for real."""

from __future__ import annotations

_TF = "import tensorflow as tf\n"
_LOOP = """
def body(i, state, seen):
    state = STEP
    return i + 1, state, seen.write(i, state)
begin = (0, tf.zeros((2, 3)), tf.TensorArray(tf.float32, size=4))
_, last, seen = tf.while_loop(lambda i, *_: i < 4, body, begin)
last + tf.zeros(LAST)
seen.GATHERED + tf.zeros(ALL)
"""
_STEPS = ("state @ tf.ones((3, 3))", "state @ tf.ones((4, 3))", "tf.nn.relu(state) + tf.ones((1, 3))")
_GATHERED = {
    "stack()": ("(4, 2, 3)", "(4, 3, 2)", "(2, 3)"),
    "concat()": ("(8, 3)", "(8, 2)"),
    "read(1)": ("(2, 3)", "(3, 2)"),
    "gather([0, 2, 3])": ("(3, 2, 3)", "(4, 2, 3)"),
}
_PLAIN = """
rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
for i in range(3):
    rows = rows.write(i, tf.ones((2, WIDTH)) * i)
rows.stack() @ tf.ones((5, 2))
"""
_MADE_BY = "weights = tf.Variable(tf.INITIALIZER(SHAPE))\ntf.ones((2, 3)) @ weights\n"
_INITIALIZERS = ("initializers.GlorotUniform()", "keras.initializers.Zeros()", "random_normal_initializer(0.0, 0.02)")
_TURNED = "tf.linalg.matmul(tf.ones(LEFT), tf.ones(RIGHT), WAYS) + tf.ones((2, 3, 5))\n"
_FLAGS = ("adjoint_a=True", "transpose_a=True", "adjoint_b=True", "adjoint_a=True, transpose_b=True", "")
_PAIRS = (
    ("(2, 3, 4)", "(2, 4, 5)"),
    ("(2, 4, 3)", "(2, 4, 5)"),
    ("(2, 3, 4)", "(2, 5, 4)"),
    ("(2, 4, 3)", "(2, 5, 4)"),
)
_VECTOR = "tf.linalg.matvec(tf.ones((2, 3, 4)), tf.ones(RIGHT), WAYS) + tf.ones(SUM)\n"
_TAKEN = "taken = tf.TensorArray(tf.float32, size=4).unstack(tf.ones((4, 6)))\ntaken.read(2) + tf.zeros(SIZE)\n"
_GROWING = """
def body(i, x):
    return i + 1, tf.concat([x, x], 0)
shapes = [tf.TensorShape([]), tf.TensorShape([None, 2])]
i, x = tf.while_loop(lambda i, x: i < 3, body, (tf.constant(0), tf.ones((1, 2))), shape_invariants=shapes)
x @ tf.ones((2, 3))
"""
_ATTENTION = (
    "import keras\nlayer = keras.layers.LAYER(OPTIONS)\n"
    "a, b, c = keras.ops.zeros((2, 3, QUERY)), keras.ops.zeros((2, 5, 4)), keras.ops.zeros((2, 5, KEY))\n"
    "layer([a, b, c]) + keras.ops.zeros((2, 3, 4))\n"
)
_FLAX = """import jax, jax.numpy as jnp
import flax.linen as nn
class Centre(nn.Module):
    @nn.compact
    def __call__(self, x):
        ready = self.has_variable("stats", "mean")
        mean = self.variable("stats", "mean", MADE)
        scale = self.param("scale", nn.initializers.ones, x.shape[-1:])
        if ready:
            mean.value = 0.9 * mean.value + 0.1 * x.mean(0)
        return (x - mean.value) * scale
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(LIFTED(Centre)()(nn.Dense(4)(x)))
x = jnp.ones((5, 3))
made, updates = Net().apply(Net().init(jax.random.key(0), x), x, mutable=["stats"])
made + jnp.zeros(OUT)
"""
_MADE = ("jnp.zeros, x.shape[-1:]", "jnp.zeros, (3,)", "lambda: jnp.zeros(4)", "lambda n: jnp.zeros((n, 1)), 3")
_LIFTED = ("", "nn.remat", "nn.checkpoint", "nn.jit")


def _replaced(text: str, **words: str) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


PROGRAMS = {
    "tensorflow": [
        *(
            _TF + _replaced(_LOOP, STEP=step, LAST=last, GATHERED=gathered, ALL=size)
            for step in _STEPS
            for last in ("(2, 3)", "(2, 4)")
            for gathered, sizes in _GATHERED.items()
            for size in sizes
        ),
        *(_TF + _PLAIN.replace("WIDTH", width) for width in "56"),
        *(_TF + _TAKEN.replace("SIZE", size) for size in ("(6,)", "(4,)")),
        _TF + _GROWING,
        *(_TF + _replaced(_TURNED, LEFT=a, RIGHT=b, WAYS=flags) for flags in _FLAGS for a, b in _PAIRS),
        *(
            _TF + _replaced(_VECTOR, RIGHT=b, WAYS=flags, SUM=size)
            for flags in ("", "transpose_a=True", "adjoint_a=True")
            for b, size in (("(2, 4)", "(2, 3)"), ("(2, 3)", "(2, 4)"), ("(2, 4)", "(2, 4)"))
        ),
        *(
            _TF + _replaced(_MADE_BY, INITIALIZER=made, SHAPE=shape)
            for made in _INITIALIZERS
            for shape in ("(3, 4)", "[3, 5]", "(4, 3)", "(3,)")
        ),
    ],
    "keras": [
        *(
            _replaced(_ATTENTION, LAYER=layer, OPTIONS=options, QUERY=query, KEY=key)
            for layer, options in (("Attention", ""), ("Attention", "score_mode='concat'"), ("AdditiveAttention", ""))
            for query, key in ("44", "66", "61", "46", "16")
        ),
    ],
    "jax": [
        *(
            _replaced(_FLAX, MADE=made, LIFTED=lifted, OUT=out)
            for made in _MADE
            for lifted in _LIFTED
            for out in ("(5, 2)", "(5, 4)")
        ),
    ],
}
