"""tensorflow: matrix products and contractions, for tf.linalg and keras.ops.

https://www.tensorflow.org/api_docs/python/tf/linalg
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.call import FALSE, TRUE
from distml.ops.registry import op
from distml.ops.rules import matmul as products
from distml.ops.rules.kinds import kind_of, promote
from distml.ops.semantics import tensors as rules
from distml.shapes import Shape

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def _either(call: Call, one: Value, other: Value) -> Value:
    """Whether a matrix is turned: transposed, or conjugated too, of which only one may be asked for."""
    known = call.flag(one), call.flag(other)
    return TRUE if True in known else FALSE if known == (False, False) else call.unknown()


def matrix_product(
    call: Call, a: Value, b: Value, turn_a: Value, turn_b: Value, adjoint_a: Value, adjoint_b: Value
) -> Value:
    """tf.linalg.matmul"""
    return rules.matmul(call, a, b, _either(call, turn_a, adjoint_a), _either(call, turn_b, adjoint_b))


def vector_product(call: Call, a: Value, b: Value, turn: Value, adjoint: Value) -> Value:
    """tf.linalg.matvec: the last axis of each meets; that of a turned matrix is its last but one."""
    left, right = call.facts.at_least(call.shape(a), 2), call.facts.at_least(call.shape(b), 1)
    turned = call.flag(_either(call, turn, adjoint))
    if left is None or right is None or left.dims is None or right.dims is None or turned is None:
        return call.unranked()
    if turned:
        left = Shape((*left.dims[:-2], left.dims[-1], left.dims[-2]))
    products.meet(call, left, right, -1, -1)
    batch = call.broadcast(Shape(left.head[:-2]), Shape(right.dims[:-1]), message=f"{call.text}: batch axes")
    return call.tensor(Shape((*batch.head, left.head[-2])), promote((kind_of(a), kind_of(b))))


def product(call: Call, x: Value, y: Value) -> Value:
    """keras.ops.matmul: vectors too."""
    return call.tensor(products.matmul(call, call.shape(x), call.shape(y)), promote((kind_of(x), kind_of(y))))


@op("tensorflow.einsum", "tensorflow.linalg.einsum", "keras.ops.einsum")
def einsum(call: Call, equation: Value, *inputs: Value, **options: Value) -> Value:
    """https://www.tensorflow.org/api_docs/python/tf/einsum"""
    return rules.einsum(call, equation, *inputs)


_SPARSE = "-a_is_sparse=False -b_is_sparse=False"
bind(
    matrix_product,
    f"a b transpose_a=False transpose_b=False adjoint_a=False adjoint_b=False {_SPARSE} -output_type=None -grad_a=False"
    " -grad_b=False -name=None",
    "tensorflow.matmul",
    "tensorflow.linalg.matmul",
)
bind(
    vector_product,
    f"a b transpose_a=False adjoint_a=False {_SPARSE} -name=None",
    "tensorflow.linalg.matvec",
)
bind(rules.contract, "a b axes -name=None", "tensorflow.tensordot", "tensorflow.linalg.tensordot")
bind(rules.contract, "x1 x2 axes=2", "keras.ops.tensordot")
bind(product, "x1 x2", "keras.ops.matmul")
