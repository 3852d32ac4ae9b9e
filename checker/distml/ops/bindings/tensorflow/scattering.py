"""tensorflow: what gathers and scatters by numbers, masks of lengths, draws by seed, and lists of tensors.

https://www.tensorflow.org/api_docs/python/tf
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.bindings.tensorflow.shaping import filled
from distml.ops.rules.axes import append_axis
from distml.ops.rules.kinds import kind_of
from distml.ops.semantics import tensors as rules
from distml.values import Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_ROOT = "tensorflow."
_SEGMENTS = "sum mean max min prod".split()


def mask(call: Call, lengths: Value, maxlen: Value, dtype: Value) -> Value:
    """tf.sequence_mask: one more axis, as long as the longest or as asked for."""
    size = call.symbol("longest") if call.is_none(maxlen) else call.dim(maxlen)
    shape = append_axis(call, call.shape(lengths), call.symbol("longest") if size is None else size)
    return call.tensor(shape, asked_kind(call, dtype, "bool"))


def scattered(call: Call, updates: Value, sizes: Value) -> Value:
    """tf.scatter_nd: zeros of a size, but for the updates."""
    return rules.filled(call, sizes, kind_of(updates))


def segments(call: Call, data: Value, ids: Value, count: Value) -> Value:
    """tf.math.unsorted_segment_sum: the axes of the numbers of segments become one axis."""
    shape, given = call.facts.shape(call.shape(data)), call.facts.shape(call.shape(ids))
    if shape.dims is None or given.rank is None or given.rank > len(shape.dims):
        return call.unranked(kind_of(data))
    return call.tensor([call.dim(count), *shape.dims[given.rank :]], kind_of(data))


def sorted_segments(call: Call, data: Value) -> Value:
    """tf.math.segment_sum: the first axis has as many items as there are segments."""
    shape = call.facts.shape(call.shape(data))
    return call.unranked(kind_of(data)) if not shape.dims else call.tensor([None, *shape.dims[1:]], kind_of(data))


def confusion(call: Call, count: Value) -> Value:
    """tf.math.confusion_matrix: a square over the classes."""
    size = call.symbol("classes") if call.is_none(count) else call.dim(count)
    return call.tensor([size, size], None)


def drawn(call: Call, logits: Value, count: Value) -> Value:
    """tf.random.categorical: [b, samples]"""
    shape = call.of_rank(call.shape(logits), 2, what="the logits")
    return call.tensor([call.facts.axis(shape, 0), call.dim(count)], "int")


def number(call: Call) -> Value:
    """One number."""
    return call.tensor([], "float")


def hits(call: Call, targets: Value) -> Value:
    """tf.math.in_top_k: one truth for each target."""
    return call.tensor(call.shape(targets), "bool")


def found_places(call: Call, values: Value) -> Value:
    """tf.searchsorted: one place for each value."""
    return call.tensor(call.shape(values), "int")


def clipped(call: Call, parts: Value) -> Value:
    """tf.clip_by_global_norm: tensors of the same sizes, and the norm."""
    items = call.items(parts)
    norm = call.tensor([], "float")
    if items is None:
        return Tup((call.unknown("clipped"), norm))
    kept = [rules.unary()(call, item) if isinstance(item, Tensor) else item for item in items]
    return Tup((call.list_of(kept), norm))


bind(mask, "lengths maxlen=None dtype=None -name=None", f"{_ROOT}sequence_mask")
bind(scattered, "-indices updates shape -name=None", f"{_ROOT}scatter_nd")
_UPDATES = [f"{_ROOT}tensor_scatter_nd_{name}" for name in "update add sub max min".split()]
bind(rules.unary(), "tensor -indices -updates -name=None", *_UPDATES)
bind(
    segments,
    "data segment_ids num_segments -name=None",
    *(f"{_ROOT}math.unsorted_segment_{name}" for name in _SEGMENTS),
)
bind(sorted_segments, "data -segment_ids -name=None", *(f"{_ROOT}math.segment_{name}" for name in _SEGMENTS))
bind(
    confusion,
    "-labels -predictions num_classes=None -weights=None -dtype='int32' -name=None",
    f"{_ROOT}math.confusion_matrix",
)
bind(drawn, "logits num_samples -dtype=None -seed=None -name=None", f"{_ROOT}random.categorical")
bind(number, "-t -name=None", f"{_ROOT}nn.l2_loss")
bind(number, "-value -dtype='int32' -name=None", f"{_ROOT}nn.zero_fraction", f"{_ROOT}math.zero_fraction")
bind(hits, "targets -predictions -k -name=None", f"{_ROOT}math.in_top_k", f"{_ROOT}nn.in_top_k")
bind(found_places, "-sorted_sequence values -side='left' -out_type='int32' -name=None", f"{_ROOT}searchsorted")
bind(clipped, "t_list -clip_norm -use_norm=None -name=None", f"{_ROOT}clip_by_global_norm")
bind(rules.unary(), "input -seq_lengths -seq_axis=None -batch_axis=None -name=None", f"{_ROOT}reverse_sequence")
_SEEDED = "-mean=0.0 -stddev=1.0 dtype='float32' -name=None -alg='auto_select'"
bind(
    filled("float"),
    f"shape -seed {_SEEDED}",
    f"{_ROOT}random.stateless_normal",
    f"{_ROOT}random.stateless_truncated_normal",
)
_BETWEEN = "-minval=0 -maxval=None dtype='float32' -name=None -alg='auto_select'"
bind(filled("float"), f"shape -seed {_BETWEEN}", f"{_ROOT}random.stateless_uniform")


def distinct(call: Call, x: Value) -> Value:
    """tf.unique: what a vector holds, and where each of its elements is among that."""
    vector = call.of_rank(call.shape(x), 1, what="a vector")
    return Tup((call.tensor([call.symbol("distinct")], kind_of(x)), call.tensor(vector, "int")))


def counted_apart(call: Call, x: Value) -> Value:
    """tf.unique_with_counts: also how often."""
    vector, count = call.of_rank(call.shape(x), 1, what="a vector"), call.symbol("distinct")
    return Tup((call.tensor([count], kind_of(x)), call.tensor(vector, "int"), call.tensor([count], "int")))


def bins(call: Call, count: Value) -> Value:
    """tf.histogram_fixed_width: a number for each bin."""
    return call.tensor([call.dim(count)], "int")


def tallied(call: Call, axis: Value) -> Value:
    """tf.math.bincount: a number for each value up to the largest."""
    return call.tensor([call.symbol("values")], None) if call.is_none(axis) else call.unranked()


bind(distinct, "x -out_idx=None -name=None", f"{_ROOT}unique")
bind(counted_apart, "x -out_idx=None -name=None", f"{_ROOT}unique_with_counts")
bind(bins, "-values -value_range nbins=100 -dtype=None -name=None", f"{_ROOT}histogram_fixed_width")
_COUNTED = "-arr -weights=None -minlength=None -maxlength=None -dtype='int32' -name=None axis=None -binary_output=False"
bind(tallied, _COUNTED, f"{_ROOT}math.bincount")
bind(rules.unary(), "input -encoding='' -name=None", *(f"{_ROOT}strings.{name}" for name in ("lower", "upper")))
bind(rules.unary(), "input -name=None", f"{_ROOT}strings.strip")
bind(
    rules.unary(),
    "input -pattern -rewrite -replace_global=True -name=None",
    f"{_ROOT}strings.regex_replace",
)
bind(rules.unary(rules.always("int")), "input -unit='BYTE' -name=None", f"{_ROOT}strings.length")
bind(rules.unary(rules.always("float")), "input -out_type=None -name=None", f"{_ROOT}strings.to_number")
