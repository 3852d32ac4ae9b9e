"""tensorflow: graphs as TensorFlow 1 and tf.compat.v1 write them: placeholders, variables by name, layers as functions.

https://www.tensorflow.org/api_docs/python/tf/compat/v1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.bindings.tensorflow.shaping import filled
from distml.ops.registry import find_layer, op
from distml.ops.semantics import tensors as rules
from distml.values import Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call


def placeholder(call: Call, dtype: Value, shape: Value) -> Value:
    """tf.placeholder(dtype, shape): a None is a size that each run may have its own of."""
    items = call.items(shape)
    if items is None:
        return call.unranked(asked_kind(call, dtype, None))
    dims = [call.symbol("size", 1) if call.is_none(item) is not False else call.dim(item) for item in items]
    return call.tensor(dims, asked_kind(call, dtype, None))


def variable(call: Call, shape: Value, dtype: Value) -> Value:
    """tf.get_variable(name, shape): of the shape that is asked for."""
    if call.is_none(shape) is not False:
        return call.unranked()
    made = rules.filled(call, shape, asked_kind(call, dtype, "float"))
    return Tensor(call.lib, made.shape, made.dtype, parameter=True) if isinstance(made, Tensor) else made


def _layer(name: str) -> Callable[..., Value]:
    def run(call: Call, inputs: Value, *args: Value, reuse: Value | None = None, **kwargs: Value) -> Value:
        """https://www.tensorflow.org/api_docs/python/tf/compat/v1/layers: a layer, made and called at once"""
        layer: Any = find_layer(f"keras.layers.{name}")
        kwargs.pop("training", None)
        attrs = layer.init(call, *args, **kwargs)
        result: Value = call.unknown() if attrs is None else layer.forward(call, attrs, inputs)
        return result

    return run


bind(placeholder, "dtype shape=None -name=None", "tensorflow.placeholder")
bind(
    variable,
    "-name shape=None dtype=None -initializer=None -regularizer=None -trainable=None -collections=None"
    " -caching_device=None -partitioner=None -validate_shape=True -use_resource=None -custom_getter=None -constraint=None",
    "tensorflow.get_variable",
)
_LAYERS = {"dense": "Dense", "conv1d": "Conv1D", "conv2d": "Conv2D", "conv3d": "Conv3D", "flatten": "Flatten"}
_LAYERS |= {"max_pooling1d": "MaxPooling1D", "max_pooling2d": "MaxPooling2D", "average_pooling2d": "AveragePooling2D"}
_LAYERS |= {"conv2d_transpose": "Conv2DTranspose", "batch_normalization": "BatchNormalization", "dropout": "Dropout"}
for _function, _name in _LAYERS.items():
    op(f"tensorflow.layers.{_function}")(_layer(_name))
_RANDOM = "-mean=0.0 -stddev=1.0 dtype='float32' -seed=None -name=None"
bind(filled("float"), f"shape {_RANDOM}", "tensorflow.random_normal", "tensorflow.truncated_normal")
bind(filled("float"), "shape -minval=0 -maxval=None dtype='float32' -seed=None -name=None", "tensorflow.random_uniform")
