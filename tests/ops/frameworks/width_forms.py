"""Statements of TensorFlow with two values of several dtypes."""

from __future__ import annotations

import itertools

HEAD = "import numpy as np\nimport tensorflow as tf\n"
TENSORS = (
    "tf.constant([[1.0, 2.0], [3.0, 4.0]])",
    "tf.ones((2, 2), tf.float64)",
    "tf.constant([[1, 2], [3, 4]])",
    "tf.cast(tf.ones((2, 2)), tf.int64)",
    "tf.constant(np.ones((2, 2)))",
    "tf.convert_to_tensor(np.ones((2, 2), np.float32))",
    "tf.constant([[True, False], [True, True]])",
)
OTHERS = (
    "np.ones((2, 2))",
    "np.ones((2, 2), int)",
    "1",
    "1.5",
    "True",
    "[[1, 2], [3, 4]]",
    "tf.Variable(tf.ones((2, 2)))",
)
FORMS = (
    *(f"{{}} {sign} {{}}" for sign in ("+", "-", "*", "/", "//", "%", "**", "@", "<", ">=")),
    *(
        f"tf.{name}({{}}, {{}})"
        for name in "add multiply subtract divide maximum pow matmul equal greater truediv".split()
    ),
    "tf.math.squared_difference({}, {})",
    "tf.concat([{}, {}], 0)",
    "tf.stack([{}, {}])",
    "tf.where([[True, False], [True, True]], {}, {})",
    "tf.cast({}, tf.float32) + tf.cast({}, tf.float32)",
    "tf.reduce_mean({}) * tf.reduce_sum({})",
    "tf.argmax({}, 1) == tf.argmin({}, 1)",
    "tf.cast({0}, ({1}).dtype) + ({1})",
    "tf.nn.relu({}) - tf.transpose({})",
    "tf.zeros_like({}) + tf.ones_like({})",
)


_OF_ONE = """
    abs acos acosh asin asinh atan atanh cos cosh erf erfc exp expm1 floor lgamma log log1p negative reciprocal rsqrt sigmoid sign
    sin sinh sqrt square tan tanh reduce_mean reduce_sum reduce_max reduce_std reduce_logsumexp softmax log_softmax
"""
_OF_NETS = "elu gelu l2_normalize leaky_relu log_softmax relu selu sigmoid silu softmax softplus softsign tanh"


def statements() -> list[str]:
    """Each form with all pairs of which one is a tensor."""
    pairs = [
        (one, other)
        for one, other in itertools.product((*TENSORS, *OTHERS), repeat=2)
        if one in TENSORS or other in TENSORS
    ]
    of_one = [*(f"math.{name}" for name in _OF_ONE.split()), *(f"nn.{name}" for name in _OF_NETS.split())]
    singles = [f"tf.{name}({tensor})" for name in of_one for tensor in TENSORS]
    masks = [
        f"({one} > 1.5) {rest}" for one in TENSORS[:2] for rest in ("* 1.0", "+ 1", "& True", "== True", f"* {one}")
    ]
    return [*singles, *masks, *(form.format(one, other) for form in FORMS for one, other in pairs)]
