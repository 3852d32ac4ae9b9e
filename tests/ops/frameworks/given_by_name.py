"""Programs of Keras that give what is asked for by name: the inputs of attention, a batch to a loss that a model computes."""

from __future__ import annotations

from itertools import product

_SHAPES = ("(2, 8)", "(2, 5, 8)", "(2, 7, 8)", "(3, 7, 8)", "(2, 3, 5, 8)")
_CALLS = (
    "query=np.ones({}, 'float32'), value=np.ones({}, 'float32')",
    "np.ones({}, 'float32'), value=np.ones({}, 'float32')",
)
_ATTENTION = "keras.layers.MultiHeadAttention(num_heads=2, key_dim=4)({})\n"
_LOSS = """class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.wide = keras.layers.Dense(4)

    def call(self, x):
        return self.wide(x)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, MORE):
        return REDUCE(BODY)


model = Own()
model.compile('sgd')
model.CALL
"""
_BODIES = ("y_pred - y", "y_pred - x", "self.wide(x) - y_pred", "y_pred - y_pred[:, :3]")
_ASKED = (
    "fit(np.ones((8, 5), 'float32'), np.ones((8, 4), 'float32'), verbose=0)",
    "fit(np.ones((8, 4), 'float32'), np.ones((8, 3), 'float32'), verbose=0)",
    "train_on_batch(np.ones((8, 4), 'float32'), np.ones((8, 4), 'float32'))",
)


def programs(head: str, reduce: str, more: str) -> list[str]:
    """Those of a version of Keras, with its mean of all numbers and what else it gives to `compute_loss`."""
    own = _LOSS.replace("REDUCE", reduce).replace("MORE", more)
    return [
        *(
            head + _ATTENTION.format(call.format(query, value))
            for call, query, value in product(_CALLS, _SHAPES, _SHAPES)
            if (query, value) != (_SHAPES[0], _SHAPES[0])  # refused only where no axes to attend over are named
        ),
        *(head + own.replace("BODY", body).replace("CALL", call) for body, call in product(_BODIES, _ASKED)),
    ]
