"""tensorflow: operations on elements, for tf.math, tf.nn and keras.ops.

https://www.tensorflow.org/api_docs/python/tf/math, https://keras.io/api/ops/numpy
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.rules.kinds import counted, floating, real
from distml.ops.semantics.tensors import along, always, binary, divided, reduction, same, unary, where

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value

_UNARY = """acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc exp expm1 floor lgamma log log1p log_sigmoid
negative reciprocal rint round rsqrt sigmoid sign sin sinh softplus sqrt square tan tanh bessel_i0 bessel_i1 erfinv ndtri
softsign conj"""
_TESTS = "is_finite is_inf is_nan logical_not"
_BINARY = """add subtract multiply maximum minimum floordiv floormod mod pow squared_difference atan2 divide_no_nan
multiply_no_nan xlogy xdivy xlog1py"""
_COMPARE = "equal greater greater_equal less less_equal not_equal logical_and logical_or logical_xor"
_ACTIVATIONS = "elu relu relu6 selu sigmoid tanh softplus softsign silu swish gelu leaky_relu"
_REDUCTIONS = {"sum": "sum", "prod": "prod", "max": "max", "min": "min"}


def chosen(call: Call, condition: Value, x: Value, y: Value) -> Value:
    """keras.ops.where: of one or the other; of neither, each backend tells the places in its own way."""
    return call.unknown() if call.is_none(x) else where(call, condition, x, y)


def _both(names: str) -> list[str]:
    return [f"tensorflow.{space}{name}" for name in names.split() for space in ("", "math.")]


bind(unary(), "x -name=None", *_both(_UNARY), "tensorflow.identity", "tensorflow.stop_gradient")
bind(unary(real), "x -name=None", *_both("abs"))
bind(unary(real), "input -name=None", *_both("real imag angle"))
bind(unary(always("bool")), "x -name=None", *_both(_TESTS))
bind(binary(), "x y -name=None", *_both(_BINARY))
bind(divided, "x y -name=None", *_both("divide truediv"))
bind(binary(always("bool")), "x y -name=None", *_both(_COMPARE))
bind(
    unary(),
    "features -name=None",
    *(f"tensorflow.nn.{name}" for name in "relu relu6 elu selu softplus softsign".split()),
)
bind(unary(), "x -name=None", "tensorflow.nn.sigmoid", "tensorflow.nn.tanh")
bind(unary(), "features -beta=1.0", "tensorflow.nn.silu", "tensorflow.nn.swish")
bind(unary(), "features -approximate=False -name=None", "tensorflow.nn.gelu")
bind(unary(), "features -alpha=0.2 -name=None", "tensorflow.nn.leaky_relu")
bind(
    along(),
    "logits axis=-1 -name=None",
    "tensorflow.nn.softmax",
    "tensorflow.nn.log_softmax",
    "tensorflow.math.softmax",
)
bind(along(), "x axis=0 -exclusive=False -reverse=False -name=None", *_both("cumsum"), "tensorflow.math.cumprod")
bind(unary(), "t -clip_value_min -clip_value_max -name=None", "tensorflow.clip_by_value")
bind(unary(), "t -clip_norm -axes=None -name=None", "tensorflow.clip_by_norm")
bind(unary(), "x -rate -noise_shape=None -seed=None -name=None", "tensorflow.nn.dropout")
bind(along(), "x axis=None -epsilon=1e-12 -name=None", *_both("l2_normalize"), "tensorflow.nn.l2_normalize")
bind(where, "condition x=None y=None -name=None", "tensorflow.where")

_AXES = "input_tensor axis=None keepdims=False -name=None"
for _name in ("sum", "prod", "max", "min"):
    bind(reduction(same, _REDUCTIONS[_name]), _AXES, *_both(f"reduce_{_name}"))  # type: ignore[arg-type]
bind(reduction(), _AXES, *_both("reduce_mean reduce_std reduce_variance reduce_logsumexp reduce_euclidean_norm"))
bind(reduction(always("bool")), _AXES, *_both("reduce_all reduce_any"))
bind(reduction(always("int")), "input axis=None keepdims=None -dtype=None -name=None", *_both("count_nonzero"))
bind(
    reduction(),
    "tensor -ord='euclidean' axis=None keepdims=None -name=None",
    "tensorflow.norm",
    "tensorflow.linalg.norm",
)

_ROOT = "tensorflow."
bind(
    unary(),
    "x -name=None",
    *(f"{_ROOT}math.{name}" for name in "erfcinv bessel_i0e bessel_i1e reciprocal_no_nan".split()),
)
bind(unary(), "x -name=None", f"{_ROOT}math.invert_permutation")
bind(along(), "x axis=0 -exclusive=False -reverse=False -name=None", f"{_ROOT}math.cumulative_logsumexp")
bind(along(), "logits axis=-1 -name=None", f"{_ROOT}math.log_softmax")
bind(binary(), "x1 x2 -name=None", f"{_ROOT}math.nextafter")
bind(binary(), "a x -name=None", *_both("igamma igammac"))
bind(binary(), "x y -name=None", *(f"{_ROOT}bitwise.bitwise_{name}" for name in ("and", "or", "xor")))
bind(binary(), "x y -name=None", *(f"{_ROOT}bitwise.{name}_shift" for name in ("left", "right")))
bind(unary(), "x -name=None", f"{_ROOT}bitwise.invert")
bind(binary(always("complex")), "real imag -name=None", f"{_ROOT}complex")
bind(binary(), "x y -name=None", f"{_ROOT}truncatediv", f"{_ROOT}realdiv", f"{_ROOT}truncatemod")
bind(unary(), "-scalar x -name=None", *_both("scalar_mul"))
bind(unary(), "input -depth_radius=5 -bias=1 -alpha=1 -beta=0.5 -name=None", f"{_ROOT}nn.local_response_normalization")

# keras.ops: NumPy's names and parameters.
_KERAS_FLOATS = """arccos arccosh arcsin arcsinh arctan arctanh cos cosh exp expm1 log log10 log1p log2 reciprocal rsqrt sin
sinh sqrt tan tanh erf"""
_KERAS_UNARY = """ceil floor negative round sign square stop_gradient relu relu6 sigmoid silu softplus softsign
hard_sigmoid log_sigmoid selu swish conjugate copy"""
_KERAS_BINARY = "add arctan2 floor_divide maximum minimum mod multiply power subtract"
bind(unary(floating), "x", *(f"keras.ops.{name}" for name in _KERAS_FLOATS.split()))
bind(unary(), "x", *(f"keras.ops.{name}" for name in _KERAS_UNARY.split()))
bind(unary(), "x -approximate=True", "keras.ops.gelu")
bind(unary(), "x -negative_slope=0.2", "keras.ops.leaky_relu")
bind(unary(), "x -alpha=1.0", "keras.ops.elu")
bind(unary(real), "x", *(f"keras.ops.{name}" for name in ("abs", "absolute", "real", "imag")))
bind(unary(always("bool")), "x", *(f"keras.ops.{name}" for name in ("isfinite", "isinf", "isnan", "logical_not")))
bind(unary(), "x -x_min -x_max", "keras.ops.clip")
bind(binary(), "x1 x2", *(f"keras.ops.{name}" for name in _KERAS_BINARY.split()))
bind(divided, "x1 x2", "keras.ops.divide", "keras.ops.true_divide")
bind(
    binary(always("bool")),
    "x1 x2",
    *(
        f"keras.ops.{name}"
        for name in "equal greater greater_equal less less_equal not_equal logical_and logical_or".split()
    ),
)
bind(along(), "x axis=-1", "keras.ops.softmax", "keras.ops.log_softmax")
bind(chosen, "condition x1=None x2=None", "keras.ops.where")
_KERAS_AXES = "x axis=None keepdims=False"
bind(reduction(), _KERAS_AXES, *(f"keras.ops.{name}" for name in ("max", "min", "logsumexp")))
bind(reduction(counted), "x axis=None keepdims=False -dtype=None", "keras.ops.sum", "keras.ops.prod")
bind(reduction(floating), _KERAS_AXES, *(f"keras.ops.{name}" for name in ("mean", "std", "var")))
bind(reduction(always("bool")), _KERAS_AXES, "keras.ops.all", "keras.ops.any")
bind(reduction(always("int")), _KERAS_AXES, "keras.ops.argmax", "keras.ops.argmin")
