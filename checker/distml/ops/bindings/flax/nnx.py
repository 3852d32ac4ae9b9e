"""flax: layers of flax.nnx: objects that are made for the sizes of their inputs.

https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/nn/index.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.flax import linen
from distml.ops.bindings.flax.layers import Attrs, convolution, in_a_row, keeping, nothing, register, width
from distml.ops.bindings.jax.transforms import later
from distml.ops.bindings.signature import arguments, kept
from distml.ops.call import NONE
from distml.ops.python.iterating import as_list, drawn
from distml.ops.registry import attribute, layer, op
from distml.ops.rules.axes import append_axis
from distml.ops.rules.layers import attribute_of, size
from distml.ops.rules.linear import with_last
from distml.shapes import Shape
from distml.values import Const, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

_MODULE = "flax.nnx.Module"


@layer(_MODULE)
class Module:
    """A class like any other, whose objects hold arrays."""

    entry = "__call__"

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> Attrs:
        """Nothing but what the class adds."""
        return {}


@op(*(f"{_MODULE}.{name}" for name in ("train", "eval", "set_attributes", "sow", "perturb", "iter_modules")))
def silent(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """What changes no shapes."""
    return call.unknown()


def define(signature: str, make: Callable[..., Attrs], run: Callable[..., Value], *names: str) -> None:
    """Register layers: the attributes `make` gives for the parameters of `signature`, what `run` makes of an input."""

    def init(call: Call, *args: Value, **kwargs: Value) -> Attrs | None:
        ours = {key: value for key, value in kwargs.items() if not key.endswith(("_init", "_metadata", "dtype"))}
        given = arguments(signature, args, ours)
        return None if given is None else {**kept(signature, args, ours), **make(call, *given)}

    register(_MODULE, init, run, *(f"flax.nnx.{name}" for name in names))


def _sized(call: Call, gets: Value, gives: Value) -> Attrs:
    return {
        "in_features": attribute_of(call, gets, size(call, gets, "in_features", 0)),
        "out_features": attribute_of(call, gives, size(call, gives, "out_features", 0)),
    }


def require(call: Call, attrs: Attrs, name: str, shape: Shape, code: str) -> Shape:
    """The last axis has the size the layer was made for."""
    shape = linen.of_least(call, shape, 1)
    message = f"{call.text} needs {{left}} {name} on the last axis, gets {{right}} (input {call.show(shape)})"
    call.require_equal(call.dim(attrs.get(name, NONE)), call.facts.axis(shape, -1), code, message)
    return call.facts.shape(shape)


def _linear(call: Call, attrs: Attrs, inputs: Value, **options: Value) -> Value:
    """The last axis of `in_features` becomes `out_features`."""
    shape = require(call, attrs, "in_features", call.shape(inputs), "SHP401")
    return call.tensor(with_last(call, shape, width(call, attrs, "out_features")), "float")


_REST = "-precision=None -promote_dtype=None -preferred_element_type=None -dot_general=None"
define(f"in_features out_features * +use_bias=True -rngs=None {_REST}", _sized, _linear, "Linear")


def _conv(call: Call, gets: Value, gives: Value, *window: Value) -> Attrs:
    return {**_sized(call, gets, gives), "features": gives, **convolution(*window)}


def _run_conv(call: Call, attrs: Attrs, inputs: Value, **options: Value) -> Value:
    """Spatial axes before the channels, of which there are `in_features`."""
    require(call, attrs, "in_features", call.shape(inputs), "SHP402")
    return linen.run_conv(call, attrs, inputs)


define(
    "in_features out_features kernel_size strides=1 * padding='SAME' input_dilation=1 kernel_dilation=1"
    f" feature_group_count=1 +use_bias=True -mask=None -rngs=None {_REST} -conv_general_dilated=None",
    _conv,
    _run_conv,
    "Conv",
)


def _transposed(call: Call, gets: Value, gives: Value, kernel: Value, strides: Value, *rest: Value) -> Attrs:
    padding, dilation = rest
    return _conv(call, gets, gives, kernel, strides, padding, Const(1), dilation, Const(1))


def _run_transposed(call: Call, attrs: Attrs, inputs: Value, **options: Value) -> Value:
    """Each spatial axis as long as its strides make it."""
    require(call, attrs, "in_features", call.shape(inputs), "SHP402")
    return linen.run_transposed(call, attrs, inputs)


define(
    "in_features out_features kernel_size strides=None * padding='SAME' kernel_dilation=None +use_bias=True"
    f" -mask=None +transpose_kernel=False -rngs=None {_REST}",
    _transposed,
    _run_transposed,
    "ConvTranspose",
)


def _embed(call: Call, count: Value, features: Value) -> Attrs:
    return {
        "num_embeddings": count,
        "features": attribute_of(call, features, size(call, features, "features", 0)),
    }


def _run_embed(call: Call, attrs: Attrs, inputs: Value, **options: Value) -> Value:
    """One vector for each number."""
    return call.tensor(append_axis(call, call.shape(inputs), width(call, attrs)), "float")


define("num_embeddings features * -rngs=None -promote_dtype=None", _embed, _run_embed, "Embed")


def _norm(call: Call, features: Value) -> Attrs:
    return {"num_features": attribute_of(call, features, size(call, features, "num_features", 0))}


def _run_norm(call: Call, attrs: Attrs, inputs: Value, *args: Value, **options: Value) -> Value:
    """The shape stays; the last axis has `num_features`."""
    return call.tensor(require(call, attrs, "num_features", call.shape(inputs), "SHP402"), "float")


_SCALES = "-epsilon=1e-06 +use_bias=True +use_scale=True -rngs=None -promote_dtype=None"
_AXES = "-axis_name=None -axis_index_groups=None -use_fast_variance=True"
define(
    f"num_features * -use_running_average=False -axis=-1 -momentum=0.99 {_SCALES} {_AXES}",
    _norm,
    _run_norm,
    "BatchNorm",
)
define(
    f"num_features * -reduction_axes=-1 -feature_axes=-1 {_SCALES} {_AXES}",
    _norm,
    _run_norm,
    "LayerNorm",
    "RMSNorm",
)


def _groups(call: Call, features: Value, count: Value, each: Value) -> Attrs:
    text = f"{call.text}: {{dim}} channels are not divisible by {{by}} groups"
    by = count if call.is_none(each) else each
    if call.is_none(by) is False:
        call.require_divisible(call.dim(features), call.dim(by), "SHP404", text)
    return _norm(call, features)


define(
    f"num_features num_groups=32 group_size=None * -reduction_axes=None {_SCALES} {_AXES}",
    _groups,
    _run_norm,
    "GroupNorm",
)


define(
    "-rate -broadcast_dims=() -deterministic=False -rng_collection='dropout' -rngs=None", nothing, keeping, "Dropout"
)


def _layers(call: Call, *layers: Value) -> Attrs:
    return {"layers": Tup(layers)}


register(_MODULE, _layers, in_a_row, "flax.nnx.Sequential", depth=2)


@op("flax.nnx.List")
def listed(call: Call, items: Value = NONE, /) -> Value:
    """nnx.List(layers): a list that is a part of the model."""
    return call.list_of(()) if call.is_none(items) else call.world.allocate(as_list(call, drawn(call, items)))


@layer("flax.nnx.Optimizer", "flax.nnx.ModelAndOptimizer")
class Optimizer:
    """nnx.Optimizer(model, tx): what it changes of a model are the numbers in its parameters"""

    @staticmethod
    def init(call: Call, *args: Value, **options: Value) -> dict[str, Value]:
        """Nothing that shapes depend on."""
        return {}


@op("flax.nnx.Optimizer.update", "flax.nnx.ModelAndOptimizer.update")
def update(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """Parameters keep their shapes."""
    return NONE


@op("flax.nnx.Rngs")
def rngs(call: Call, *args: Value, **options: Value) -> Value:
    """nnx.Rngs(0): keys by name."""
    return call.unknown("rngs")


@op("flax.nnx.Param", "flax.nnx.Variable", "flax.nnx.BatchStat")
def param(call: Call, value: Value, **options: Value) -> Value:
    """nnx.Param(array): in use it is the array."""
    return call.tensor(call.shape(value), call.dtype(value)) if isinstance(value, Tensor) else call.unknown()


@attribute("jax.Array.value")
def value(call: Call, self: Value) -> Value:
    """`param.value`: the array of a variable."""
    return self


for _name in ("grad", "value_and_grad"):
    later("f argnums=0 has_aux=False -holomorphic=False -allow_int=False -reduce_axes=()", f"flax.nnx.{_name}")


@op("flax.nnx.value_and_grad.__call__", "flax.nnx.grad.__call__")
def gradient(call: Call, fun: Value, argnums: Value, has_aux: Value, *args: Value, **kwargs: Value) -> Value:
    """nnx.value_and_grad(fun)(*args): the function runs; what the gradients are is not followed."""
    made = call.apply(fun, *args, kwargs=kwargs)
    return Tup((made, call.unknown())) if "value_and" in call.name else call.unknown()
