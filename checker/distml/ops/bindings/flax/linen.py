"""flax: layers of flax.linen.

https://flax.readthedocs.io/en/latest/api_reference/flax.linen/layers.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.flax.base import define, fits
from distml.ops.bindings.flax.layers import Attrs, convolution, in_a_row, keeping, nothing, width
from distml.ops.bindings.jax.nn import attention
from distml.ops.bindings.jax.windows import each_axis, fitting, paddings_of
from distml.ops.bindings.signature import adopt, bind
from distml.ops.call import NONE, ShapeError
from distml.ops.registry import op
from distml.ops.rules.axes import append_axis
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.layers import attribute_of, size
from distml.ops.rules.linear import with_last
from distml.ops.rules.sizes import shape_from
from distml.ops.semantics.conv import Kernel
from distml.ops.semantics.pool import pool
from distml.ops.semantics.window import Layout, Padding, Window, spread, windows
from distml.shapes import Dim, Shape
from distml.values import Const, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

ONE = Dim.of(1)
_MADE = "-dtype=None -param_dtype=None -precision=None -kernel_init=None -bias_init=None -promote_dtype=None"
_DOTS = "-dot_general=None -dot_general_cls=None"


def of_least(call: Call, shape: Shape, rank: int) -> Shape:
    """An input with so many axes or more (SHP301)."""
    known = call.facts.at_least(shape, rank)
    if known is None:
        call.fail("SHP301", f"{call.text} needs an input with at least {rank} axes, gets {call.show(shape)}")
    return known


def _features(call: Call, features: Value) -> Attrs:
    return {"features": attribute_of(call, features, size(call, features, "features", 0))}


def _kind(call: Call, attrs: Attrs) -> str:
    """What tells a layer from others in the same place."""
    return f"{call.name} {attrs.get('features')!r}"


def _dense(call: Call, attrs: Attrs, inputs: Value) -> Value:
    """The last axis becomes `features`."""
    shape = of_least(call, call.shape(inputs), 1)
    fits(call, attrs, _kind(call, attrs), call.facts.axis(shape, -1), "SHP401", "features on the last axis")
    return call.tensor(with_last(call, call.facts.shape(shape), width(call, attrs)), "float")


define(f"features -use_bias=True {_MADE} {_DOTS}", _features, _dense, "Dense")


def _general(call: Call, features: Value, axis: Value, batch: Value) -> Attrs:
    return {"features": features, "axis": axis, "batch_dims": batch}


def _run_general(call: Call, attrs: Attrs, inputs: Value) -> Value:
    """The axes that are named become `features`, behind the others."""
    shape = call.shape(inputs)
    made = call.sizes(attrs["features"])
    axes = call.axes(attrs["axis"], shape.rank)
    if shape.dims is None or made is None or axes is None or call.items(attrs["batch_dims"]) != ():
        return call.unranked("float")
    product = Dim.of(1)
    for axis in axes:
        product = product * shape.dims[axis]
    fits(call, attrs, f"{call.name} {attrs['features']!r}", call.small(product), "SHP401", "features")
    return call.tensor([*(dim for axis, dim in enumerate(shape.dims) if axis not in axes), *made], "float")


define(f"features axis=-1 batch_dims=() -use_bias=True {_MADE} {_DOTS}", _general, _run_general, "DenseGeneral")


def _conv(call: Call, features: Value, *window: Value) -> Attrs:
    return {**_features(call, features), **convolution(*window)}


def _count(call: Call, attrs: Attrs) -> int | None:
    """How many spatial axes a kernel has; one for a number."""
    items = call.items(attrs["kernel_size"])
    if items is not None:
        return len(items)
    return 1 if isinstance(attrs["kernel_size"], Const) else None


_WORDS: dict[str, Padding] = {"CAUSAL": "causal", "CIRCULAR": "same", "REFLECT": "same"}


def _paddings(call: Call, padding: Value, count: int) -> tuple[Padding, ...]:
    """A word, one number for all sides, or one or two for each axis."""
    word, number = call.const(padding, str), call.dim(padding)
    own = _WORDS.get(word) if isinstance(word, str) else None
    if own is not None:
        return (own,) * count
    if number is not None:
        return (2 * number,) * count
    items = call.items(padding)
    if items is not None and len(items) == count and all(call.items(item) is None for item in items):
        sides = [call.dim(item) for item in items]
        return tuple(None if side is None else 2 * side for side in sides)
    return paddings_of(call, padding, count)


def run_conv(call: Call, attrs: Attrs, inputs: Value) -> Value:
    """Spatial axes before the channels; any number of batch axes."""
    shape, count = call.shape(inputs), _count(call, attrs)
    if count is None:
        return call.unranked("float")
    shape = of_least(call, shape, count + 1)
    groups = call.dim(attrs["feature_group_count"])
    channels = call.facts.axis(shape, -1)
    text = f"{call.text}: {{dim}} input channels are not divisible by feature_group_count={{by}}"
    call.require_divisible(channels, groups, "SHP404", text)
    fits(call, attrs, f"{_kind(call, attrs)} {attrs['kernel_size']!r}", channels, "SHP402", "input channels")
    shape = call.facts.shape(shape)
    if shape.dims is None or attrs["input_dilation"] not in (Const(1), NONE):
        return call.unranked("float") if shape.rank is None else call.tensor([None] * shape.rank, "float")
    ahead = shape.dims[: -count - 1]
    kernel = call.per_axis(attrs["kernel_size"], count) or (None,) * count
    read = windows(
        kernel,
        each_axis(call, attrs["strides"], count),
        _paddings(call, attrs["padding"], count),
        each_axis(call, attrs["kernel_dilation"], count),
    )
    image = Shape((ONE, *shape.dims[-count - 1 :]))
    made = fitting(call, image, Kernel(None, width(call, attrs), groups), read)
    return call.unranked("float") if made.dims is None else call.tensor(Shape((*ahead, *made.dims[1:])), "float")


_PLACE = "-mask=None"
define(
    "features kernel_size strides=1 padding='SAME' input_dilation=1 kernel_dilation=1 feature_group_count=1"
    f" -use_bias=True {_PLACE} {_MADE} -conv_general_dilated=None -conv_general_dilated_cls=None",
    _conv,
    run_conv,
    "Conv",
)


def _transposed(call: Call, features: Value, kernel: Value, strides: Value, padding: Value, dilation: Value) -> Attrs:
    return _conv(call, features, kernel, strides, padding, Const(1), dilation, Const(1))


def run_transposed(call: Call, attrs: Attrs, inputs: Value) -> Value:
    """Each spatial axis as long as its strides make it."""
    shape, count = call.shape(inputs), _count(call, attrs)
    if count is None:
        return call.unranked("float")
    shape = of_least(call, shape, count + 1)
    channels = call.facts.axis(shape, -1)
    fits(call, attrs, f"{_kind(call, attrs)} {attrs['kernel_size']!r}", channels, "SHP402", "input channels")
    shape = call.facts.shape(shape)
    if shape.dims is None:
        return call.unranked("float")
    word = call.const(attrs["padding"], str)
    pads: tuple[Padding, ...] = ("same" if word == "SAME" else "valid" if word == "VALID" else None,) * count
    kernel = call.per_axis(attrs["kernel_size"], count) or (None,) * count
    read = windows(
        kernel, each_axis(call, attrs["strides"], count), pads, each_axis(call, attrs["kernel_dilation"], count)
    )
    grown = [_grown(call, dim, window) for dim, window in zip(shape.dims[-count - 1 : -1], read, strict=True)]
    return call.tensor([*shape.dims[: -count - 1], *grown, width(call, attrs)], "float")


def _grown(call: Call, dim: Dim, window: Window) -> Dim | None:
    """JAX pads a "valid" transposed axis to `size * stride + max(kernel - stride, 0)`."""
    if window.padding not in ("same", "valid") or window.dilation != ONE:
        return None
    return spread(call, dim, window)


define(
    "features kernel_size strides=None padding='SAME' kernel_dilation=None -use_bias=True -mask=None -dtype=None"
    " -param_dtype=None -precision=None -kernel_init=None -bias_init=None -transpose_kernel=False -promote_dtype=None"
    " -preferred_element_type=None",
    _transposed,
    run_transposed,
    "ConvTranspose",
)


def _embed(call: Call, count: Value, features: Value) -> Attrs:
    return {"num_embeddings": count, **_features(call, features)}


def _run_embed(call: Call, attrs: Attrs, inputs: Value) -> Value:
    """One vector for each number."""
    return call.tensor(append_axis(call, call.shape(inputs), width(call, attrs)), "float")


define(
    "num_embeddings features -dtype=None -param_dtype=None -embedding_init=None -promote_dtype=None",
    _embed,
    _run_embed,
    "Embed",
)


@op("flax.linen.Embed.attend", "flax.nnx.Embed.attend")
def attend(call: Call, self: Value, query: Value) -> Value:
    """embed.attend(query): a score for each embedding."""
    attrs = call.attrs(self) or {}
    shape = of_least(call, call.shape(query), 1)
    message = f"{call.text} needs {{left}} features on the last axis, gets {{right}} (query {call.show(shape)})"
    call.require_equal(call.dim(attrs.get("features", NONE)), call.facts.axis(shape, -1), "SHP401", message)
    return call.tensor(with_last(call, call.facts.shape(shape), width(call, attrs, "num_embeddings")), "float")


def _norm(call: Call, axis: Value) -> Attrs:
    return {"axis": axis}


def _run_norm(call: Call, attrs: Attrs, inputs: Value, *args: Value, **options: Value) -> Value:
    """The shape stays; the axis of the features has the size the parameters were made for."""
    shape, axis = call.shape(inputs), call.const(attrs["axis"], int)
    if isinstance(axis, int) and call.axis(attrs["axis"], shape.rank) is not None:
        fits(call, attrs, call.name, call.facts.axis(shape, axis), "SHP402", "features")
    return call.tensor(call.facts.shape(shape), "float")


_SCALES = "-use_bias=True -use_scale=True -bias_init=None -scale_init=None"
define(
    f"-use_running_average=None axis=-1 -momentum=0.99 -epsilon=1e-05 -dtype=None -param_dtype=None {_SCALES}"
    " -axis_name=None -axis_index_groups=None -use_fast_variance=True -force_float32_reductions=True"
    " -promote_dtype=None",
    _norm,
    _run_norm,
    "BatchNorm",
)
_REST = "-axis_name=None -axis_index_groups=None -use_fast_variance=True -force_float32_reductions=True"
define(
    f"-epsilon=1e-06 -dtype=None -param_dtype=None {_SCALES} -reduction_axes=-1 feature_axes=-1 {_REST}",
    _norm,
    _run_norm,
    "LayerNorm",
    "InstanceNorm",
)
define(
    "-epsilon=1e-06 -dtype=None -param_dtype=None -use_scale=True -scale_init=None -reduction_axes=-1 feature_axes=-1"
    f" {_REST} -promote_dtype=None",
    _norm,
    _run_norm,
    "RMSNorm",
)


def _groups(call: Call, count: Value, each: Value) -> Attrs:
    return {"axis": Const(-1), "num_groups": count, "group_size": each}


def _run_groups(call: Call, attrs: Attrs, inputs: Value, *args: Value, **options: Value) -> Value:
    """The channels divide into groups (SHP404)."""
    shape = call.shape(inputs)
    by = attrs["num_groups"] if call.is_none(attrs["group_size"]) else attrs["group_size"]
    text = f"{call.text}: {{dim}} channels are not divisible by {{by}} groups"
    if call.is_none(by) is False and call.facts.at_least(shape, 1) is not None:
        call.require_divisible(call.facts.axis(shape, -1), call.dim(by), "SHP404", text)
    return _run_norm(call, attrs, inputs)


define(
    f"num_groups=32 group_size=None -epsilon=1e-06 -dtype=None -param_dtype=None {_SCALES} -reduction_axes=None {_REST}",
    _groups,
    _run_groups,
    "GroupNorm",
)


define("-rate -broadcast_dims=() -deterministic=None -rng_collection='dropout'", nothing, keeping, "Dropout")
define("-negative_slope_init=0.01 -param_dtype=None", nothing, keeping, "PReLU")


def _heads(call: Call, heads: Value, middle: Value, features: Value, function: Value) -> Attrs:
    return {"num_heads": heads, "qkv_features": middle, "out_features": features, "attention_fn": function}


def _run_heads(
    call: Call, attrs: Attrs, query: Value, key: Value = NONE, value: Value = NONE, mask: Value = NONE, **options: Value
) -> Value:
    """The query's axes with `out_features` at the end; the features divide by the heads (SHP404)."""
    shape = of_least(call, call.shape(query), 2)
    width = call.facts.axis(shape, -1)
    middle = width if call.is_none(attrs["qkv_features"]) else call.dim(attrs["qkv_features"])
    text = f"{call.text}: {{dim}} features are not divisible by num_heads={{by}}"
    call.require_divisible(middle, call.dim(attrs["num_heads"]), "SHP404", text)
    fits(call, attrs, f"{call.name} {attrs['num_heads']!r}", width, "SHP401", "features of the query")
    keys = next(
        (each for each in (key, *map(options.get, ("inputs_k", "inputs_kv"))) if isinstance(each, Tensor)), None
    )
    if keys is not None and call.is_none(attrs["attention_fn"]) and not call.name.endswith("SelfAttention"):
        _same_batches(call, shape, call.shape(keys))
    absent = call.is_none(attrs["out_features"])
    last = width if absent else call.dim(attrs["out_features"])
    if absent is None or last is None:
        last = call.symbol("features")
    return call.tensor(with_last(call, call.facts.shape(shape), last), "float")


def _same_batches(call: Call, query: Shape, keys: Shape) -> None:
    """What stands before the lengths and the features is the same of queries and keys: nothing is broadcast (SHP104)."""
    query, keys = call.facts.shape(query), call.facts.shape(keys)
    if query.dims is None or keys.dims is None or len(query.dims) != len(keys.dims):
        return
    text = f"{call.text}: the query {query!r} and the keys {keys!r} differ before their lengths: {{left}} and {{right}}"
    for one, other in zip(query.dims[:-2], keys.dims[:-2], strict=True):
        call.require_equal(one, other, "SHP104", text)


_ATTEND = (
    "num_heads -dtype=None -param_dtype=None qkv_features=None out_features=None -broadcast_dropout=True"
    " -dropout_rate=0.0 -deterministic=None -precision=None -kernel_init=None -out_kernel_init=None -bias_init=None"
    " -out_bias_init=None -use_bias=True attention_fn=None -decode=False -normalize_qk=False"
    " -force_fp32_for_softmax=False -qkv_dot_general=None -out_dot_general=None -qkv_dot_general_cls=None"
    " -out_dot_general_cls=None -qk_attn_weights_einsum=None -attn_weights_value_einsum=None"
)
define(_ATTEND, _heads, _run_heads, "MultiHeadDotProductAttention", "MultiHeadAttention", "SelfAttention")


def _layers(call: Call, layers: Value) -> Attrs:
    return {"layers": layers}


define("layers", _layers, in_a_row, "Sequential")


def _cell(call: Call, attrs: Attrs, carry: Value, inputs: Value) -> Value:
    """A step: the carry of before, whose features are those of the result, whatever the cell was made for."""
    shape = of_least(call, call.shape(inputs), 1)
    fits(call, attrs, _kind(call, attrs), call.facts.axis(shape, -1), "SHP401", "features")
    state = carry.items[-1] if isinstance(carry, Tup) and carry.items else carry
    known = isinstance(state, Tensor) and call.shape(state).least > 0
    width = call.facts.axis(call.shape(state), -1) if known else None
    last = call.symbol("features") if width is None else width
    return Tup((carry, call.tensor(with_last(call, call.facts.shape(shape), last), "float")))


_CELL = "-gate_fn=None -activation_fn=None -kernel_init=None -recurrent_kernel_init=None -bias_init=None -dtype=None"
_CELLS = ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "MGUCell", "SimpleCell")
define(
    f"features {_CELL} -param_dtype=None -carry_init=None -residual=False -reset_gate=True", _features, _cell, *_CELLS
)


@op(*(f"flax.linen.{name}.initialize_carry" for name in _CELLS))
def first_carry(call: Call, self: Value, rng: Value, input_shape: Value) -> Value:
    """cell.initialize_carry(rng, input_shape): zeros for each row."""
    rows = shape_from(call, input_shape)
    if rows.dims is None or not rows.dims:
        return call.unknown()
    state = call.tensor([*rows.dims[:-1], width(call, call.attrs(self) or {})], "float")
    return Tup((state, state)) if "LSTM" in call.name else state


def _rnn(call: Call, cell: Value, major: Value, carry: Value) -> Attrs:
    return {"cell": cell, "time_major": major, "return_carry": carry}


def _run_rnn(call: Call, attrs: Attrs, inputs: Value, **options: Value) -> Value:
    """The features of the cell for each step."""
    width = call.dim((call.attrs(attrs["cell"]) or {}).get("features", NONE))
    carry = call.flag(options.get("return_carry", attrs["return_carry"]))
    shape = of_least(call, call.shape(inputs), 2)
    made = call.tensor(with_last(call, shape, call.symbol("features") if width is None else width), "float")
    return call.unknown() if carry is None else Tup((call.unknown("carry"), made)) if carry else made


define(
    "cell time_major=False return_carry=False -reverse=False -keep_order=False -unroll=1 -variable_axes=None"
    " -variable_broadcast=None -variable_carry=None -split_rngs=None",
    _rnn,
    _run_rnn,
    "RNN",
)


def _pool(call: Call, inputs: Value, sizes: Value, strides: Value, padding: Value) -> Value:
    """nn.max_pool: the spatial axes before the channels."""
    items = call.items(sizes)
    if items is None:
        return call.unranked(kind_of(inputs))
    count = len(items)
    shape = of_least(call, call.shape(inputs), count + 1)
    reach = tuple(call.dim(item) for item in items)
    read = windows(reach, each_axis(call, strides, count), paddings_of(call, padding, count), (ONE,) * count)
    rank = call.facts.shape(shape).rank
    if rank is None:
        return call.unranked(kind_of(inputs))
    try:
        return pool(call, inputs, read, Layout(count, True), (rank,))
    except ShapeError as error:
        if error.code != "SHP403":
            raise
        return call.tensor([None] * rank, kind_of(inputs))


_POOLS = tuple(f"flax.{space}.{name}" for space in ("linen", "nnx") for name in ("max_pool", "avg_pool", "min_pool"))
bind(_pool, "inputs window_shape strides=None padding='VALID' -count_include_pad=True", *_POOLS)
_SHARED = """
    relu relu6 sigmoid softplus soft_sign silu swish log_sigmoid leaky_relu hard_sigmoid hard_silu hard_swish hard_tanh
    elu celu selu gelu tanh softmax log_softmax standardize one_hot logsumexp glu
"""
for _name in _SHARED.split():
    for _space in ("linen", "nnx"):
        adopt(f"flax.{_space}.{_name}", f"jax.nn.{_name}")
_ATTENTION = (
    "query key value -bias=None -mask=None -broadcast_dropout=True -dropout_rng=None -dropout_rate=0.0"
    " -deterministic=False -dtype=None -precision=None -module=None -force_fp32_for_softmax=False"
    " -einsum_dot_general=None -qk_attn_weights_einsum=None -attn_weights_value_einsum=None"
)
bind(attention, _ATTENTION, "flax.linen.dot_product_attention", "flax.nnx.dot_product_attention")


def _mask(call: Call, query: Value, key: Value) -> Value:
    """nn.make_attention_mask: (..., 1, query length, key length)."""
    one, other = call.shape(query), call.shape(key)
    if not one.dims or not other.dims:
        return call.unranked("float")
    return call.tensor([*one.dims[:-1], ONE, one.dims[-1], other.dims[-1]])


def _causal(call: Call, x: Value) -> Value:
    """nn.make_causal_mask: (..., 1, length, length)."""
    return _mask(call, x, x)


bind(_mask, "query_input key_input -pairwise_fn=None -extra_batch_dims=0 -dtype=None", "flax.linen.make_attention_mask")
bind(_causal, "x -extra_batch_dims=0 -dtype=None", "flax.linen.make_causal_mask")
