"""keras: Dense, Embedding, reshaping, regularization, normalization and activations.

https://keras.io/api/layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import LAYER, define, keeping, nothing, of_least_rank, require_features, unbuilt
from distml.ops.bindings.keras.names import FEATURES
from distml.ops.bindings.signature import bind
from distml.ops.rules import view
from distml.ops.rules.axes import append_axis, permute, product, replace_axes
from distml.ops.rules.layers import attribute_of, size
from distml.ops.rules.linear import with_last
from distml.ops.semantics.tensors import along, unary
from distml.shapes import Dim, Shape
from distml.values import NONE, Const, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

Attrs = dict[str, Value]


def _dense(call: Call, units: Value) -> Attrs:
    return {"units": attribute_of(call, units, size(call, units, "units", 1)), FEATURES: unbuilt(call)}


def _run_dense(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """The last axis becomes `units`; it has one size for ever."""
    shape = of_least_rank(call, call.shape(inputs), 2)
    require_features(call, attrs, shape)
    units = call.dim(attrs["units"])
    return call.tensor(with_last(call, shape, call.symbol("units") if units is None else units), "float")


define("units -activation=None +use_bias=True -lora_rank=None", _dense, _run_dense, "Dense")


def _embedding(call: Call, count: Value, width: Value) -> Attrs:
    return {"input_dim": count, "output_dim": attribute_of(call, width, size(call, width, "output_dim", 1))}


def _run_embedding(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """One vector for each number."""
    width = call.dim(attrs["output_dim"])
    return call.tensor(append_axis(call, call.shape(inputs), call.symbol("width") if width is None else width), "float")


define(
    "input_dim output_dim -mask_zero=False -input_length=None -lora_rank=None", _embedding, _run_embedding, "Embedding"
)


def _flatten(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """Every axis behind the batch as one; of a batch of numbers a column."""
    shape = of_least_rank(call, call.shape(inputs), 1)
    if shape.rank == 1:
        return call.tensor(append_axis(call, shape, Dim.of(1)), call.dtype(inputs))
    if shape.dims is None:
        return call.tensor([call.facts.axis(shape, 0), None], call.dtype(inputs))
    return call.tensor(Shape((shape.dims[0], product(call, shape.dims[1:]))), call.dtype(inputs))


define("-data_format=None", nothing, _flatten, "Flatten")


def _reshape(call: Call, target_shape: Value) -> Attrs:
    return {"target_shape": target_shape}


def _run_reshape(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """The axes behind the batch under other sizes."""
    shape, sizes = of_least_rank(call, call.shape(inputs), 1), call.sizes(attrs["target_shape"])
    first = call.facts.axis(shape, 0)
    shape = call.facts.shape(shape)
    rest = Shape(shape.dims[1:]) if shape.dims is not None else call.facts.unknown_shape()
    made = view.reshape(call, rest, sizes)
    if made.dims is None or first is None:
        return call.unranked(call.dtype(inputs))
    return call.tensor(Shape((first, *made.dims)), call.dtype(inputs))


define("target_shape", _reshape, _run_reshape, "Reshape")


def _permute(call: Call, dims: Value) -> Attrs:
    return {"dims": dims}


def _run_permute(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """The axes behind the batch, counted from 1, in another order."""
    items = call.items(attrs["dims"])
    axes = None if items is None else (Const(0), *items)
    return call.tensor(permute(call, call.shape(inputs), axes), call.dtype(inputs))


define("dims", _permute, _run_permute, "Permute")


def _repeat(call: Call, n: Value) -> Attrs:
    return {"n": n}


def _run_repeat(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """(batch, features) to (batch, n, features)."""
    shape = call.of_rank(call.shape(inputs), 2, what="an input")
    times = call.dim(attrs["n"])
    new = call.symbol("times") if times is None else times
    return call.tensor(replace_axes(call, shape, 1, 0, (new,)), call.dtype(inputs))


define("n", _repeat, _run_repeat, "RepeatVector")


def _lambda(call: Call, function: Value) -> Attrs:
    return {"function": function}


def _run_lambda(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """What the function makes of the input."""
    return call.apply(attrs["function"], inputs)


define("function -output_shape=None -mask=None", _lambda, _run_lambda, "Lambda")

define("-rate -noise_shape=None -seed=None", nothing, keeping, "Dropout")
define("-rate -seed=None", nothing, keeping, "AlphaDropout", "GaussianDropout")
_DROPOUT = ("keras.layers.Dropout", LAYER)
define("-rate -data_format=None -seed=None", nothing, keeping, "SpatialDropout2D", "SpatialDropout3D", bases=_DROPOUT)
define("-rate -seed=None", nothing, keeping, "SpatialDropout1D", bases=_DROPOUT)
define("-stddev -seed=None", nothing, keeping, "GaussianNoise")
define("-activation", nothing, keeping, "Activation")
define("-mask_value=0.0", nothing, keeping, "Masking")
define("-l1=0.0 -l2=0.0", nothing, keeping, "ActivityRegularization")
define("-max_value=None -negative_slope=0.0 -threshold=0.0", nothing, keeping, "ReLU")
define("-negative_slope=0.3 -alpha=None", nothing, keeping, "LeakyReLU")
define("-alpha=1.0", nothing, keeping, "ELU")
define("-axis=-1", nothing, keeping, "Softmax")
define("-shared_axes=None", nothing, keeping, "PReLU")
define("-scale -offset=0.0", nothing, keeping, "Rescaling")
define("", nothing, keeping, "Identity")
define("-mode=None -seed=None", nothing, keeping, "RandomFlip")
define(
    "-factor -fill_mode='reflect' -interpolation='bilinear' -seed=None -fill_value=0.0 -value_range=None",
    nothing,
    keeping,
    "RandomRotation",
    "RandomContrast",
    "RandomBrightness",
)
define(
    "-height_factor -width_factor=None -fill_mode='reflect' -interpolation='bilinear' -seed=None -fill_value=0.0",
    nothing,
    keeping,
    "RandomZoom",
    "RandomTranslation",
)


def _normalized(call: Call, axis: Value) -> Attrs:
    return {"axis": axis, FEATURES: unbuilt(call)}


def _run_normalized(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """The shape stays; the axis has one size for ever."""
    shape, axis = call.shape(inputs), attrs["axis"]
    items = call.items(axis)
    one = axis if items is None else items[0] if len(items) == 1 else NONE
    if isinstance(one, Const) and isinstance(one.value, int) and call.axis(one, shape.rank) is not None:
        require_features(call, attrs, shape, one.value)
    return call.tensor(call.facts.shape(shape), "float")


define(
    "axis=-1 -momentum=0.99 -epsilon=0.001 +center=True +scale=True -renorm=False -virtual_batch_size=None"
    " -synchronized=False -fused=None",
    _normalized,
    _run_normalized,
    "BatchNormalization",
)
define(
    "axis=-1 -epsilon=0.001 +center=True +scale=True -rms_scaling=False",
    _normalized,
    _run_normalized,
    "LayerNormalization",
)
define("-axis=-1 -order=2", nothing, keeping, "UnitNormalization")
define("-groups=32 axis=-1 -epsilon=0.001 +center=True +scale=True", _normalized, _run_normalized, "GroupNormalization")

_NAMES = (
    "elu gelu hard_sigmoid linear mish relu relu6 selu sigmoid silu softplus softsign swish tanh exponential leaky_relu"
)
bind(unary(), "x -alpha=0.0 -max_value=None -threshold=0.0", *(f"keras.activations.{name}" for name in _NAMES.split()))
bind(along(), "x axis=-1", "keras.activations.softmax")


def _one_hot(call: Call, y: Value, num_classes: Value) -> Value:
    """keras.utils.to_categorical: an array of NumPy with an axis of classes; a last axis of 1 goes."""
    shape = call.shape(y)
    if shape.dims is None:
        return call.unranked("float")
    dims = shape.dims[:-1] if len(shape.dims) > 1 and shape.dims[-1] == 1 else shape.dims
    if len(shape.dims) > 1 and dims is shape.dims and not shape.dims[-1].differs(1):
        return call.unknown()
    count = None if call.is_none(num_classes) is not False else call.dim(num_classes)
    return call.tensor([*dims, count], "float", "numpy")


bind(_one_hot, "y num_classes=None -dtype='float32'", "keras.utils.to_categorical")
