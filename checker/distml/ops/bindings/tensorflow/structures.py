"""tensorflow: tensors that are not kept whole (sparse, ragged), and structures of tensors (tf.nest).

https://www.tensorflow.org/api_docs/python/tf/sparse, https://www.tensorflow.org/api_docs/python/tf/ragged
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.data import mapped
from distml.ops.registry import layer, op
from distml.ops.rules.kinds import kind_of
from distml.ops.semantics import tensors as rules
from distml.ops.semantics.trees import leaves
from distml.shapes import Dim, Shape
from distml.values import NONE, InstanceRecord, Lib, Tensor, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


_SPARSE, _RAGGED = "tensorflow.SparseTensor", "tensorflow.RaggedTensor"
_WHOLE, _ROWS = "__whole__", "__rows__"


@layer(_SPARSE)
class Sparse:
    """https://www.tensorflow.org/api_docs/python/tf/sparse/SparseTensor"""

    bases = ()

    @staticmethod
    def init(call: Call, indices: Value, values: Value, dense_shape: Value) -> dict[str, Value]:
        """A place for each value (SHP104), a number in each place for each axis (SHP301)."""
        places = call.of_rank(call.shape(indices), 2, what="the indices")
        numbers = call.of_rank(call.shape(values), 1, what="the values")
        text = f"{call.text}: {{left}} places for {{right}} values"
        call.require_equal(call.facts.axis(places, 0), call.facts.axis(numbers, 0), "SHP104", text)
        sizes = call.sizes(dense_shape)
        whole = call.unranked(kind_of(values)) if sizes is None else call.tensor(sizes, kind_of(values))
        if sizes is not None:
            text = f"{call.text}: places of {{left}} numbers in a shape of {{right}} axes"
            call.require_equal(call.facts.axis(places, 1), Dim.of(len(sizes)), "SHP301", text)
        return {_WHOLE: whole}


def _whole(call: Call, sparse: Value) -> Tensor | None:
    found = (call.attrs(sparse) or {}).get(_WHOLE)
    return found if isinstance(found, Tensor) else None


def _kept(call: Call, whole: Value) -> Value:
    return call.world.allocate(InstanceRecord(Lib(_SPARSE), {_WHOLE: whole}))


def thinned(call: Call, tensor: Value) -> Value:
    """tf.sparse.from_dense"""
    return _kept(call, call.tensor(call.shape(tensor), kind_of(tensor)))


def filled(call: Call, sparse: Value) -> Value:
    """tf.sparse.to_dense"""
    whole = _whole(call, sparse)
    return call.unranked() if whole is None else call.tensor(whole.shape, whole.dtype)


def turned(call: Call, sparse: Value, axes: Value) -> Value:
    """tf.sparse.transpose"""
    whole = _whole(call, sparse)
    return call.unknown() if whole is None else _kept(call, rules.transpose(call, whole, axes))


def same(call: Call, sparse: Value) -> Value:
    """tf.sparse.reorder"""
    return sparse


def product(call: Call, left: Value, right: Value, flip_left: Value, flip_right: Value) -> Value:
    """tf.sparse.sparse_dense_matmul: of a sparse and a dense matrix."""
    one, other = (_whole(call, side) or (side if isinstance(side, Tensor) else None) for side in (left, right))
    if one is None or other is None:
        return call.unranked("float")
    for side in (one, other):
        call.of_rank(call.shape(side), 2, what="matrices")
    return rules.matmul(call, one, other, flip_left, flip_right)


def reduced(call: Call, sparse: Value, axis: Value, keep: Value) -> Value:
    """tf.sparse.reduce_sum: a dense tensor."""
    whole = _whole(call, sparse)
    return call.unranked() if whole is None else rules.reduction()(call, whole, axis, keep)


_ROOT = "tensorflow.sparse."
bind(thinned, "tensor -name=None", f"{_ROOT}from_dense")
bind(filled, "sp_input -default_value=None -validate_indices=True -name=None", f"{_ROOT}to_dense")
bind(turned, "sp_input perm=None -name=None", f"{_ROOT}transpose")
bind(same, "sp_input -name=None", f"{_ROOT}reorder")
bind(product, "sp_a b adjoint_a=False adjoint_b=False -name=None", f"{_ROOT}sparse_dense_matmul")
bind(
    reduced,
    "sp_input axis=None keepdims=False -output_is_sparse=False -name=None",
    f"{_ROOT}reduce_sum",
    f"{_ROOT}reduce_max",
)


@layer(_RAGGED)
class Ragged:
    """https://www.tensorflow.org/api_docs/python/tf/RaggedTensor: made by functions only."""

    bases = ()


def ragged(call: Call, rows: Value) -> Value:
    """tf.ragged.constant: rows of a length of their own; how many there are and how long the longest is may be known."""
    items = call.items(rows)
    if items is None:
        return call.unknown()
    lengths = [call.items(item) for item in items]
    known = [len(length) for length in lengths if length is not None]
    flat = len(known) == len(lengths) and not any(call.items(n) for length in lengths for n in length or ())
    widest: Dim | None = Dim.of(max(known)) if known and flat else None
    whole = call.tensor([Dim.of(len(items)), widest], None) if flat else call.unranked()
    return call.world.allocate(InstanceRecord(Lib(_RAGGED), {_WHOLE: whole}))


def _rows(call: Call, self: Value) -> Dim | None:
    whole = _whole(call, self)
    shape: Shape | None = None if whole is None else call.shape(whole)
    return None if shape is None else call.facts.axis(shape, 0)


@op(f"{_RAGGED}.to_tensor")
def padded(call: Call, self: Value, default_value: Value = NONE, name: Value = NONE, shape: Value = NONE) -> Value:
    """ragged.to_tensor(): every row as long as the longest."""
    whole = _whole(call, self)
    asked = call.items(shape)
    sizes = None if whole is None else call.shape(whole).dims
    if whole is None or (
        call.is_none(shape) is not True and (asked is None or sizes is None or len(asked) != len(sizes))
    ):
        return call.unranked()
    if asked is None or sizes is None:
        return call.tensor(whole.shape)
    return call.tensor([own if each == NONE else call.dim(each) for own, each in zip(sizes, asked, strict=True)])


@op(f"{_RAGGED}.row_lengths")
def lengths(call: Call, self: Value, axis: Value = NONE, name: Value = NONE) -> Value:
    """ragged.row_lengths(): a number for each row."""
    return call.tensor([_rows(call, self)], "int") if call.is_none(axis) else call.unranked("int")


bind(
    ragged,
    "pylist -dtype=None -ragged_rank=None -inner_shape=None -name=None -row_splits_dtype=None",
    "tensorflow.ragged.constant",
)


@op("tensorflow.nest.map_structure")
def each(call: Call, func: Value, *structure: Value, **options: Value) -> Value:
    """tf.nest.map_structure(func, structure): of one structure."""
    if len(structure) != 1:
        return call.unknown()
    made = mapped(call, structure[0], lambda tensor: call.apply(func, tensor), lists=True)
    return call.unknown() if made is None else made


def flat(call: Call, structure: Value) -> Value:
    """tf.nest.flatten: the parts in a list."""
    found = leaves(call, structure)
    return call.unknown() if found is None else call.list_of(found)


bind(flat, "structure -expand_composites=False", "tensorflow.nest.flatten")
