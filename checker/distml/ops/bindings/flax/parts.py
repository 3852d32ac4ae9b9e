"""flax: layers of flax.nnx that attend or step through time, and models taken apart and put together.

https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/nn/index.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.flax import linen
from distml.ops.bindings.flax.layers import Attrs, width
from distml.ops.bindings.flax.nnx import define, require
from distml.ops.call import NONE
from distml.ops.registry import layer, op
from distml.ops.rules.linear import with_last
from distml.ops.rules.sizes import shape_from
from distml.ops.semantics import tensors as rules
from distml.shapes import Dim
from distml.values import InstanceRecord, Lib, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_REST = "-dtype=None -param_dtype=None -precision=None -promote_dtype=None -preferred_element_type=None -rngs=None"


def _heads(call: Call, heads: Value, gets: Value, middle: Value, gives: Value, keys: Value) -> Attrs:
    """The features divide by the heads (SHP404)."""
    text = f"{call.text}: {{dim}} features are not divisible by num_heads={{by}}"
    inner = gets if call.is_none(middle) else middle
    call.require_divisible(call.dim(inner), call.dim(heads), "SHP404", text)
    return {
        "in_features": gets,
        "out_features": gets if call.is_none(gives) else gives,
        "in_kv_features": gets if call.is_none(keys) else keys,
    }


def _attend(call: Call, attrs: Attrs, query: Value, key: Value = NONE, value: Value = NONE, **options: Value) -> Value:
    """The axes of the query, with `out_features` at the end; keys and values of `in_kv_features`."""
    shape = require(call, attrs, "in_features", call.shape(query), "SHP401")
    for other in (key, value):
        if isinstance(other, Tensor):
            require(call, attrs, "in_kv_features", call.shape(other), "SHP401")
    return call.tensor(with_last(call, shape, width(call, attrs, "out_features")), "float")


define(
    "num_heads in_features qkv_features=None out_features=None in_kv_features=None * -broadcast_dropout=True"
    " -dropout_rate=0.0 -deterministic=None -use_bias=True -attention_fn=None -decode=None -normalize_qk=False"
    f" -qkv_dot_general=None -out_dot_general=None -keep_rngs=True {_REST}",
    _heads,
    _attend,
    "MultiHeadAttention",
)


def _cell(call: Call, gets: Value, gives: Value) -> Attrs:
    return {"in_features": gets, "hidden_features": gives}


def _step(call: Call, attrs: Attrs, carry: Value, inputs: Value) -> Value:
    """A step: the carry of before, and `hidden_features`."""
    shape = require(call, attrs, "in_features", call.shape(inputs), "SHP401")
    return Tup((carry, call.tensor(with_last(call, shape, width(call, attrs, "hidden_features")), "float")))


_CELLS = ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell")
define(
    f"in_features hidden_features * -gate_fn=None -activation_fn=None -residual=False -keep_rngs=True {_REST}",
    _cell,
    _step,
    *_CELLS,
)


@op(*(f"flax.nnx.{name}.initialize_carry" for name in _CELLS))
def first_carry(call: Call, self: Value, input_shape: Value, rngs: Value = NONE, **options: Value) -> Value:
    """cell.initialize_carry(input_shape, rngs): zeros for each row."""
    rows = shape_from(call, input_shape)
    if not rows.dims:
        return call.unknown()
    state = call.tensor([*rows.dims[:-1], width(call, call.attrs(self) or {}, "hidden_features")], "float")
    return Tup((state, state)) if "LSTM" in call.name else state


def _rnn(call: Call, cell: Value, carry: Value) -> Attrs:
    return {"cell": cell, "return_carry": carry}


def _run_rnn(call: Call, attrs: Attrs, inputs: Value, **options: Value) -> Value:
    """The features of the cell for each step."""
    cell = call.attrs(attrs["cell"]) or {}
    shape = require(call, cell, "in_features", linen.of_least(call, call.shape(inputs), 2), "SHP401")
    made = call.tensor(with_last(call, shape, width(call, cell, "hidden_features")), "float")
    carry = call.flag(options.get("return_carry", attrs["return_carry"]))
    return call.unknown() if carry is None else Tup((call.unknown("carry"), made)) if carry else made


define(
    "cell * -time_major=False return_carry=False -reverse=False -keep_order=False -unroll=1 -rngs=None"
    " -state_axes=None -broadcast_rngs=None",
    _rnn,
    _run_rnn,
    "RNN",
)


def _general(call: Call, gets: Value, gives: Value, axis: Value) -> Attrs:
    return {"in_features": gets, "out_features": gives, "axis": axis}


def _run_general(call: Call, attrs: Attrs, inputs: Value, **options: Value) -> Value:
    """The axes that are named have `in_features` (SHP401) and become `out_features`, behind the others."""
    shape = call.shape(inputs)
    axes = call.axes(attrs["axis"], shape.rank)
    taken, given = (_sizes(call, attrs[name]) for name in ("in_features", "out_features"))
    if shape.dims is None or axes is None or taken is None or given is None or len(axes) != len(taken):
        return call.unranked("float")
    for axis, size in zip(axes, taken, strict=True):
        text = f"{call.text} needs {{left}} features on axis {axis}, gets {{right}} (input {call.show(shape)})"
        call.require_equal(size, shape.dims[axis], "SHP401", text)
    return call.tensor([*(dim for axis, dim in enumerate(shape.dims) if axis not in axes), *given], "float")


def _sizes(call: Call, value: Value) -> tuple[Dim | None, ...] | None:
    one = call.dim(value)
    return call.sizes(value) if one is None else (one,)


define(
    f"in_features out_features * axis=-1 -batch_axis=None -use_bias=True -dot_general=None {_REST}",
    _general,
    _run_general,
    "LinearGeneral",
)


def _contraction(call: Call, equation: Value, kernel: Value) -> Attrs:
    return {"einsum_str": equation, "kernel_shape": kernel}


def _contract(call: Call, attrs: Attrs, inputs: Value, einsum_str: Value = NONE, **options: Value) -> Value:
    """An einsum of the input and the kernel."""
    equation = attrs["einsum_str"] if call.is_none(einsum_str) else einsum_str
    return rules.einsum(call, equation, inputs, call.tensor(shape_from(call, attrs["kernel_shape"]), "float"))


define(f"einsum_str kernel_shape -bias_shape=None * {_REST}", _contraction, _contract, "Einsum")

_GRAPH, _OF = "flax.nnx.GraphDef", "__model__"


@layer(_GRAPH)
class Graph:
    """https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/graph.html: made by functions only."""

    bases = ()


@op("flax.nnx.split")
def split(call: Call, node: Value, *filters: Value) -> Value:
    """nnx.split(model, ...): how it is built, and what it holds in so many parts."""
    graph = call.world.allocate(InstanceRecord(Lib(_GRAPH), {_OF: node}))
    return Tup((graph, *(call.unknown("state") for _ in range(max(1, len(filters))))))


@op("flax.nnx.merge")
def merge(call: Call, graph: Value, *states: Value, **options: Value) -> Value:
    """nnx.merge(graphdef, state): the model again."""
    return (call.attrs(graph) or {}).get(_OF, call.unknown("model"))


@op("flax.nnx.update")
def update(call: Call, node: Value, *states: Value, **options: Value) -> Value:
    """nnx.update(model, state): parameters keep their shapes."""
    return NONE
