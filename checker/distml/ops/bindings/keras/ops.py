"""keras: keras.ops: NumPy's laws under Keras's parameters; what is not NumPy's stands here or beside TensorFlow's functions.

https://keras.io/api/ops
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.jax.nn import attention, halved
from distml.ops.bindings.jax.transforms import fori_loop, map_, scan
from distml.ops.bindings.keras.images import convolved, pooled
from distml.ops.bindings.signature import adopt, bind, borrow
from distml.ops.bindings.tensorflow import data, dtypes, elementwise, initializers, nn, products, shaping, values
from distml.ops.bindings.tensorflow.nn import moments
from distml.ops.bindings.tensorflow.scattering import drawn, hits, scattered, segments
from distml.ops.bindings.tensorflow.shaping import filled, top
from distml.ops.registry import find_op
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.loss import alike
from distml.ops.semantics import tensors as rules
from distml.values import Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

__all__ = ["data", "dtypes", "elementwise", "initializers", "nn", "products", "shaping", "values"]

_OPS = "keras.ops."
_NUMPY = """
x: angle bitwise_invert bitwise_not cbrt conj deg2rad exp2 fabs fliplr flipud i0 isneginf isposinf isreal ndim nonzero
x: rad2deg ravel signbit sinc size trunc bartlett blackman hamming hanning shape corrcoef
x1 x2: dot fmax fmin fmod gcd heaviside hypot inner kron lcm ldexp logaddexp logaddexp2 logical_xor nextafter outer vdot
x y: bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor left_shift right_shift
x1 x2 -rtol=1e-05 -atol=1e-08 -equal_nan=False: allclose isclose
x1 x2 -assume_unique=False -invert=False: isin
x axis=None keepdims=False: amax amin median nanargmax nanargmin nanmax nanmean nanmedian nanmin nanprod nanstd nansum
x axis=None keepdims=False: nanvar ptp
x q axis=None -method='linear' keepdims=False: percentile quantile nanpercentile nanquantile
x axis=None: count_nonzero flip
x axis=None dtype=None: cumprod cumsum nancumprod nancumsum
x axis=-1: argsort sort
x k=0: diag diagflat tril triu
x indices_or_sections: dsplit hsplit
x indices_or_sections axis=0: array_split
x offset=0 axis1=0 axis2=1: diagonal trace
xs: dstack hstack vstack
x1 x2 axis=None: append
start stop=None step=None dtype=None: arange
x kth axis=-1: argpartition
x axis=None weights=None: average
x1 x2 mode='valid': correlate
x1 x2 axisa=-1 axisb=-1 axisc=-1 axis=None: cross
a n=1 axis=-1: diff
x bins: digitize
shape dtype=None: empty
x dtype=None: empty_like
N M=None k=0 dtype=None: eye tri
n dtype=None: identity
x fill_value dtype=None: full_like
start stop num=50 endpoint=True dtype=None axis=0: geomspace
start stop num=50 endpoint=True retstep=False dtype=None axis=0: linspace
start stop num=50 endpoint=True -base=10 dtype=None axis=0: logspace
x bins=10 -range=None: histogram
x source destination: moveaxis
x -nan=0.0 -posinf=None -neginf=None: nan_to_num
x pad_width mode='constant' -constant_values=None: pad
x shift axis=None: roll
array k=1 axes=(0,1): rot90
sorted_sequence values -side='left': searchsorted
condlist choicelist default=0: select
x axis1 axis2: swapaxes
x indices axis=None: take_along_axis
x repeats: tile
y x=None dx=1.0 axis=-1: trapezoid
indices shape: unravel_index
x N=None increasing=False: vander
x beta: kaiser
x weights=None minlength=0 -sparse=False: bincount
"""
_LINALG = """
x -upper=False: cholesky
x: det eig eigh inv
a b: solve
x -tol=None: matrix_rank
x ord=None axis=None keepdims=False: norm
x -rcond=None: pinv
x mode='reduced': qr
x full_matrices=True compute_uv=True: svd
"""
_NN = """relu relu6 sigmoid silu swish softplus softsign hard_sigmoid log_sigmoid selu gelu leaky_relu elu softmax log_softmax
one_hot"""


def _each(table: str) -> list[tuple[str, str]]:
    """A signature with each name that has it."""
    rows = (line.partition(": ") for line in table.strip().splitlines())
    return [(signature, name) for signature, _, names in rows for name in names.split()]


for _signature, _name in _each(_NUMPY):
    borrow(f"{_OPS}{_name}", f"numpy.{_name}", _signature)
adopt(f"{_OPS}meshgrid", "numpy.meshgrid")
for _signature, _name in _each(_LINALG):
    for _space in ("", "linalg."):
        borrow(f"{_OPS}{_space}{_name}", f"numpy.linalg.{_name}", _signature)


for _name in _NN.split():
    adopt(f"{_OPS}nn.{_name}", f"{_OPS}{_name}")


def _both(names: str) -> list[str]:
    """Names in keras.ops and in keras.ops.nn."""
    return [f"{_OPS}{space}{name}" for name in names.split() for space in ("", "nn.")]


def normalized(call: Call, x: Value, axis: Value) -> Value:
    """keras.ops.normalize: every vector along an axis gets the length 1."""
    made: Value = rules.along()(call, x, axis)
    return made


def scaled(call: Call, x: Value) -> Value:
    """keras.ops.layer_normalization: the shape stays."""
    return call.tensor(call.facts.shape(call.shape(x)), "float")


def fetched(call: Call, x: Value) -> Value:
    """keras.ops.convert_to_numpy: an array of NumPy."""
    return call.tensor(call.shape(x), kind_of(x), "numpy")


def counted(call: Call, data: Value, ids: Value, count: Value) -> Value:
    """keras.ops.segment_sum: as many rows as there are segments; as many as the largest says, where none is given."""
    if call.is_none(count) is False:
        return segments(call, data, ids, count)
    return segments(call, data, ids, call.number(call.symbol("segments")))


def fitted(call: Call, a: Value, b: Value) -> Value:
    """keras.ops.lstsq: the solution alone."""
    rule = find_op("numpy.linalg.lstsq")
    made = None if rule is None else rule(call, a, b)
    return made.items[0] if isinstance(made, Tup) else call.unranked("float")


def scores_of(call: Call, target: Value, output: Value) -> Value:
    """keras.ops.binary_crossentropy: a number for each of the scores, whose shape the targets have (SHP501)."""
    return call.tensor(alike(call, call.shape(output), call.shape(target), "target"), "float")


def cut(call: Call, x: Value, start: Value, shape: Value) -> Value:
    """keras.ops.slice: a part of these sizes."""
    return rules.filled(call, shape, kind_of(x))


def written(call: Call, x: Value) -> Value:
    """keras.ops.scatter_update: the shape stays."""
    return call.tensor(call.facts.shape(call.shape(x)), kind_of(x))


bind(filled("float"), "shape -fill_value dtype=None", f"{_OPS}full")
bind(fitted, "a b -rcond=None", f"{_OPS}lstsq", f"{_OPS}linalg.lstsq")
bind(top, "x k -sorted=True", *_both("top_k"))
bind(normalized, "x axis=-1 -order=2 -epsilon=None", *_both("normalize"))
bind(scaled, "x -gamma=None -beta=None -axis=-1 -epsilon=None", *_both("layer_normalization"))
bind(scaled, "x -scale=None -axis=-1 -epsilon=None", *_both("rms_normalization"))
bind(moments, "x axes keepdims=False -synchronized=False", *_both("moments"))
bind(rules.unary(), "x", *_both("hard_silu hard_swish hard_tanh tanh_shrink sparse_plus sparse_sigmoid"))
bind(rules.unary(), "x -alpha=1.0", *_both("celu"))
bind(rules.unary(), "x -threshold=0.5", *_both("hard_shrink soft_shrink"))
bind(rules.unary(), "x -b=4", *_both("squareplus"))
bind(rules.unary(), "x -threshold -default_value", *_both("threshold"))
bind(rules.along(), "x axis=-1", *_both("sparsemax"))
bind(halved, "x axis=-1", *_both("glu"))
bind(
    attention,
    "query key value -bias=None -mask=None -scale=None -is_causal=False -flash_attention=None"
    " -attn_logits_soft_cap=None",
    *_both("dot_product_attention"),
)
bind(pooled, "inputs pool_size strides=None padding='valid' data_format=None", *_both("max_pool average_pool"))
bind(
    convolved,
    "inputs kernel strides=1 padding='valid' data_format=None dilation_rate=1",
    *_both("conv"),
)
bind(scores_of, "target output -from_logits=False", *_both("binary_crossentropy"))

bind(rules.unary(), "x", *(f"{_OPS}{name}" for name in "erfc erfinv".split()))
bind(rules.binary(), "x1 x2", f"{_OPS}divide_no_nan")
bind(dtypes.cast, "x dtype", f"{_OPS}saturate_cast")
bind(fetched, "x", f"{_OPS}convert_to_numpy")
for _kind in ("sum", "max", "min", "prod"):
    bind(counted, "data segment_ids num_segments=None -sorted=False", f"{_OPS}segment_{_kind}")
bind(scattered, "-indices values shape", f"{_OPS}scatter")
bind(written, "inputs -indices -updates -reduction=None", f"{_OPS}scatter_update")
bind(written, "inputs -start_indices -updates", f"{_OPS}slice_update")
bind(cut, "inputs start_indices shape", f"{_OPS}slice")
bind(hits, "targets -predictions -k", f"{_OPS}in_top_k")
bind(scan, "f init xs=None length=None -reverse=False -unroll=1", f"{_OPS}scan")
bind(map_, "f xs", f"{_OPS}map")
bind(map_, "function elements", f"{_OPS}vectorized_map")
bind(fori_loop, "-lower -upper body_fun init_val", f"{_OPS}fori_loop")

_DRAWN = "shape -mean=0.0 -stddev=1.0 dtype=None -seed=None"
bind(filled("float"), _DRAWN, "keras.random.normal", "keras.random.truncated_normal")
bind(filled("float"), "shape -minval=0.0 -maxval=1.0 dtype=None -seed=None", "keras.random.uniform")
bind(filled("int"), "shape -minval -maxval dtype='int32' -seed=None", "keras.random.randint")
bind(filled("float"), "shape -alpha dtype=None -seed=None", "keras.random.gamma")
bind(filled("float"), "shape -alpha -beta dtype=None -seed=None", "keras.random.beta")
bind(filled("float"), "shape -counts -probabilities dtype=None -seed=None", "keras.random.binomial")
bind(drawn, "logits num_samples -dtype='int32' -seed=None", "keras.random.categorical")
bind(rules.unary(), "inputs -rate -noise_shape=None -seed=None", "keras.random.dropout")
bind(rules.along(), "x axis=0 -seed=None", "keras.random.shuffle")
