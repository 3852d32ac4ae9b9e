"""jax: jax.nn: softmax and its kin, one-hot vectors, attention, initializers.

https://docs.jax.dev/en/latest/jax.nn.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.numpy.dtypes import kind_of as asked_kind
from distml.ops.registry import op
from distml.ops.rules import axes as axis_rules
from distml.ops.rules.attention import attend_heads
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.reduce import reduced
from distml.ops.rules.sizes import shape_from
from distml.ops.semantics import tensors as rules
from distml.values import Lib, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_NN = "jax.nn."


def along(call: Call, x: Value, axis: Value) -> Value:
    """jax.nn.softmax: the shape stays; one axis, several, or all."""
    shape, items = call.shape(x), call.items(axis)
    for one in items if items is not None else (axis,):
        if call.is_none(one) is False:
            axis_rules.axis_in(call, one, shape)
    return call.tensor(call.facts.shape(shape), "float")


def halved(call: Call, x: Value, axis: Value) -> Value:
    """jax.nn.glu: half of an axis gates the other half (SHP204)."""
    shape = call.shape(x)
    at = axis_rules.axis_in(call, axis, shape)
    size = None if at is None else call.facts.axis(shape, at)
    from distml.shapes import Dim

    text = f"{call.text}: {{dim}} of {call.show(shape)} cannot be halved"
    call.require_divisible(size, Dim.of(2), "SHP204", text)
    return call.tensor(axis_rules.replace_axis(call, shape, at, None if size is None else size // 2), kind_of(x))


def logsumexp(call: Call, x: Value, axis: Value, weights: Value, keep: Value, sign: Value) -> Value:
    """jax.nn.logsumexp: a sum along axes, and its sign if asked for."""
    made = call.tensor(reduced(call, call.shape(x), axis, keep))
    flag = call.flag(sign)
    return call.unknown() if flag is None else Tup((made, made)) if flag else made


def one_hot(call: Call, x: Value, classes: Value, dtype: Value, axis: Value) -> Value:
    """jax.nn.one_hot: a new axis of classes."""
    made = rules.one_hot(call, x, classes, axis)
    return call.tensor(call.shape(made), asked_kind(call, dtype, "float"))


bind(along, "x axis=-1 -where=None -initial=None -unused=None", f"{_NN}softmax", f"{_NN}log_softmax")
bind(along, "x axis=-1 -mean=None -variance=None -epsilon=1e-05 -where=None", f"{_NN}standardize")
bind(halved, "x axis=-1", f"{_NN}glu")
_SUM = "a axis=None b=None keepdims=False return_sign=False -where=None"
bind(logsumexp, _SUM, f"{_NN}logsumexp", "jax.scipy.special.logsumexp")
bind(one_hot, "x num_classes * dtype=None axis=-1", f"{_NN}one_hot")


def attention(call: Call, query: Value, key: Value, value: Value) -> Value:
    """jax.nn.dot_product_attention: (batch, length, heads, features), the heads before the features."""
    shape = attend_heads(call, call.shape(query), call.shape(key), call.shape(value))
    return call.tensor(shape, kind_of(query))


bind(
    attention,
    "query key value -bias=None -mask=None * -scale=None -is_causal=False -query_seq_lengths=None"
    " -key_value_seq_lengths=None -local_window_size=None -implementation=None -return_residual=False",
    f"{_NN}dot_product_attention",
)

INITIALIZER = "jax.nn.initializers.Initializer.__call__"
_MADE = """
    constant delta_orthogonal glorot_normal glorot_uniform he_normal he_uniform kaiming_normal kaiming_uniform lecun_normal
    lecun_uniform normal orthogonal truncated_normal uniform variance_scaling xavier_normal xavier_uniform
"""


@op(*(f"jax.nn.initializers.{name}" for name in _MADE.split()))
def initializer(call: Call, *args: Value, **options: Value) -> Value:
    """jax.nn.initializers.normal(...): a function of a key and a shape."""
    return Lib(INITIALIZER)


@op(INITIALIZER, "jax.nn.initializers.zeros", "jax.nn.initializers.ones")
def initialized(call: Call, *args: Value, **options: Value) -> Value:
    """initializer(key, shape, dtype): an array of that shape."""
    given = dict(zip(("key", "shape", "dtype", "out_sharding"), args, strict=False)) | options
    if "shape" not in given:
        return call.unranked()
    return call.tensor(shape_from(call, given["shape"]), None)
