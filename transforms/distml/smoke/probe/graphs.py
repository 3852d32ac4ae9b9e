"""Notes from inside TensorFlow graphs, where Python runs only while the graph is built."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def tensorflow() -> Any:
    """The framework, which the script has imported."""
    return sys.modules["tensorflow"]


def eager() -> bool:
    """Whether operations run as they are written."""
    return bool(tensorflow().executing_eagerly())


def values(tensors: list[Any]) -> list[Any]:
    """The dense tensors among `tensors`, as tensors."""
    tf = tensorflow()
    return [tensor for tensor in tensors if isinstance(tensor, tf.Tensor) and tensor.dtype.is_numpy_compatible]


def note(callback: Callable[..., None], tensors: list[Any]) -> Any:
    """Have `callback` called with the values of `tensors` now, or whenever the graph comes by.

    The operation that does it, or None where it was done at once.
    """
    if eager():
        callback(*[tensor.numpy() for tensor in tensors])
        return None

    def call(*arrays: Any) -> Any:
        callback(*arrays)
        return 0

    tf = tensorflow()
    with tf.device("CPU:0"):
        return tf.numpy_function(call, tensors, tf.int64)


def after(operation: Any, structure: Any) -> Any:
    """`structure` of tensors, as it is once `operation` has run; unchanged where that is None."""
    if operation is None:
        return structure
    tf = tensorflow()
    with tf.control_dependencies([operation]):
        return tf.nest.map_structure(
            lambda value: tf.identity(value) if isinstance(value, tf.Tensor) else value, structure
        )
