"""tensorflow: matrix products and contractions, for tf.linalg and keras.ops.

https://www.tensorflow.org/api_docs/python/tf/linalg
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.registry import op
from distml.ops.rules import matmul as products
from distml.ops.rules.kinds import kind_of, promote
from distml.ops.semantics import tensors as rules
from distml.shapes import Shape

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def vector_product(call: Call, a: Value, b: Value) -> Value:
    """tf.linalg.matvec: the last axis of each meets."""
    left, right = call.facts.at_least(call.shape(a), 2), call.facts.at_least(call.shape(b), 1)
    if left is None or right is None or left.dims is None or right.dims is None:
        return call.unranked()
    products.meet(call, left, right, -1, -1)
    batch = call.broadcast(Shape(left.dims[:-2]), Shape(right.dims[:-1]), message=f"{call.text}: batch axes")
    return call.tensor(Shape((*batch.head, left.dims[-2])), promote((kind_of(a), kind_of(b))))


def product(call: Call, x: Value, y: Value) -> Value:
    """keras.ops.matmul: vectors too."""
    return call.tensor(products.matmul(call, call.shape(x), call.shape(y)), promote((kind_of(x), kind_of(y))))


@op("tensorflow.einsum", "tensorflow.linalg.einsum", "keras.ops.einsum")
def einsum(call: Call, equation: Value, *inputs: Value, **options: Value) -> Value:
    """https://www.tensorflow.org/api_docs/python/tf/einsum"""
    return rules.einsum(call, equation, *inputs)


_FLAGS = "-adjoint_a=False -adjoint_b=False -a_is_sparse=False -b_is_sparse=False -output_type=None"
bind(
    rules.matmul,
    f"a b transpose_a=False transpose_b=False {_FLAGS} -grad_a=False -grad_b=False -name=None",
    "tensorflow.matmul",
    "tensorflow.linalg.matmul",
)
bind(vector_product, "a b -transpose_a=False -name=None", "tensorflow.linalg.matvec")
bind(rules.contract, "a b axes -name=None", "tensorflow.tensordot", "tensorflow.linalg.tensordot")
bind(rules.contract, "x1 x2 axes=2", "keras.ops.tensordot")
bind(product, "x1 x2", "keras.ops.matmul")
