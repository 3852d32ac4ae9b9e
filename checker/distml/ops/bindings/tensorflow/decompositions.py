"""tensorflow: tf.linalg: decompositions of matrices, and what is solved with them.

https://www.tensorflow.org/api_docs/python/tf/linalg
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import adopt, bind, borrow
from distml.ops.bindings.tensorflow.matrices import inverse, solved
from distml.ops.rules import diagonal, linalg
from distml.ops.rules.axes import drop_axis, replace_axes
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.ranks import same_shape
from distml.ops.semantics import tensors as rules
from distml.shapes import Dim
from distml.values import Const, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.shapes import Shape

_ROOT = "tensorflow.linalg."


def singular(call: Call, tensor: Value, full: Value, vectors: Value) -> Value:
    """tf.linalg.svd: the values, then both matrices; the second one is not transposed."""
    wanted = call.flag(vectors)
    left, values, right = linalg.svd(call, call.shape(tensor), call.flag(full))
    if wanted is None:
        return call.unknown()
    one = call.tensor(values, kind_of(tensor))
    columns, rows = call.facts.axis(right, -1), call.facts.axis(right, -2)
    if not wanted or columns is None or rows is None:
        return call.unknown() if wanted else one
    turned = replace_axes(call, right, -2, 2, (columns, rows))
    return Tup((one, *(call.tensor(shape, kind_of(tensor)) for shape in (left, turned))))


def orthogonal(call: Call, input: Value, full: Value) -> Value:
    """tf.linalg.qr: an orthogonal and a triangular matrix."""
    mode = {True: "complete", False: "reduced", None: None}[call.flag(full)]
    made = linalg.qr(call, call.shape(input), mode)
    return Tup(tuple(call.tensor(shape, kind_of(input)) for shape in made))


def triangles(call: Call, input: Value) -> Value:
    """tf.linalg.lu: both triangular matrices in one, and the order of the rows."""
    shape = linalg.square(call, call.shape(input)).shape
    return Tup((call.tensor(shape, kind_of(input)), call.tensor(drop_axis(call, shape, -1), "int")))


def fitted(call: Call, matrix: Value, rhs: Value) -> Value:
    """tf.linalg.lstsq: as many rows on both sides (SHP101); a row for each column of the matrix."""
    left, right = (linalg.matrix(call, call.shape(value)) for value in (matrix, rhs))
    text = f"{call.text}: {call.show(left.shape)} has {{left}} rows, the right-hand side {call.show(right.shape)} {{right}}"
    call.require_equal(left.rows, right.rows, "SHP101", text)
    ahead = linalg.batches(call, linalg.batch(call, left.shape), linalg.batch(call, right.shape))
    return call.tensor(call.facts.framed((), ahead, (left.columns, right.columns)), kind_of(rhs))


def crossed(call: Call, a: Value, b: Value) -> Value:
    """tf.linalg.cross: vectors of 3 numbers, of one shape."""
    text = f"{call.text}: {call.show(a)} and {call.show(b)} must have one shape"
    shape = same_shape(call, call.shape(a), call.shape(b), "SHP102", text)
    text = f"{call.text}: vectors have 3 components, {call.show(shape)} has {{left}}"
    call.require_equal(call.facts.axis(shape, -1), Dim.of(3), "SHP101", text)
    return call.tensor(shape, kind_of(a))


def with_diagonal(call: Call, input: Value, own: Value, k: Value) -> Value:
    """tf.linalg.set_diag: the matrices keep their sizes; the diagonal has a number for each place (SHP305)."""
    shape = linalg.matrix(call, call.shape(input)).shape
    if k == Const(0):
        wanted = diagonal.diagonal(call, shape, k, Const(-2), Const(-1))
        text = f"{call.text}: the diagonal of {call.show(shape)} has {{left}} numbers, {{right}} are given"
        call.require_equal(call.facts.axis(wanted, -1), call.facts.axis(call.shape(own), -1), "SHP305", text)
    return call.tensor(shape, kind_of(input))


def doubled(call: Call, value: Value) -> Value:
    """tf.linalg.tensor_diag: every axis twice."""
    dims = call.shape(value).dims
    return call.unranked(kind_of(value)) if dims is None else call.tensor([*dims, *dims], kind_of(value))


def complex_spectrum(call: Call, tensor: Value) -> Value:
    """tf.linalg.eigvals: complex numbers, whatever the matrix holds."""
    shape = linalg.square(call, call.shape(tensor)).shape
    return call.tensor(drop_axis(call, shape, -1), "complex")


def complex_vectors(call: Call, tensor: Value) -> Value:
    """tf.linalg.eig: the eigenvalues and eigenvectors."""
    shape = linalg.square(call, call.shape(tensor)).shape
    return Tup((complex_spectrum(call, tensor), call.tensor(shape, "complex")))


def one_number(call: Call) -> Value:
    """The norm of all tensors together."""
    return call.tensor([], "float")


def summed(call: Call, inputs: Value) -> Value:
    """tf.add_n: tensors of one shape."""
    items = call.items(inputs)
    if not items:
        return call.unranked()
    shape: Shape = call.shape(items[0])
    for item in items[1:]:
        text = f"{call.text}: {call.show(shape)} and {call.show(item)} must have one shape"
        shape = same_shape(call, shape, call.shape(item), "SHP102", text)
    return call.tensor(shape, kind_of(items[0]))


bind(singular, "tensor full_matrices=False compute_uv=True -name=None", f"{_ROOT}svd", "tensorflow.svd")
bind(orthogonal, "input full_matrices=False -name=None", f"{_ROOT}qr", "tensorflow.qr")
bind(triangles, "input -output_idx_type=None -name=None", f"{_ROOT}lu")
bind(fitted, "matrix rhs -l2_regularizer=0.0 -fast=True -name=None", f"{_ROOT}lstsq")
bind(solved, "chol rhs -name=None", f"{_ROOT}cholesky_solve")
bind(crossed, "a b -name=None", f"{_ROOT}cross")
bind(with_diagonal, "input diagonal -name='set_diag' k=0 -align='RIGHT_LEFT'", f"{_ROOT}set_diag")
bind(doubled, "diagonal -name=None", f"{_ROOT}tensor_diag")
bind(complex_spectrum, "tensor -name=None", f"{_ROOT}eigvals")
bind(complex_vectors, "tensor -name=None", f"{_ROOT}eig")
bind(inverse, "input -name=None", "tensorflow.matrix_square_root")
bind(rules.unary(), "x -axis=None -epsilon=1e-12 -name=None", f"{_ROOT}l2_normalize")
bind(one_number, "-t_list -name=None", f"{_ROOT}global_norm")
bind(summed, "inputs -name=None", "tensorflow.add_n", "tensorflow.math.add_n")
borrow(f"{_ROOT}pinv", "numpy.linalg.pinv", "a -rcond=None -validate_args=False -name=None")

adopt("tensorflow.meshgrid", "numpy.meshgrid", "name")
