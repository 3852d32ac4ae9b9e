"""Batch normalization of one process that stands for several: over the share that each of those would have.

Processes that take every N-th sample hold, of the large batch, every N-th sample; normalized so, the losses of one
process are those of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .graphs import tensorflow
from .importing import Hook, wrap
from .plan import Plan


def hooks(plan: Plan) -> dict[str, Hook]:
    """By the module after which they are made; none in a process that stands for itself."""
    if plan.factor == 1:
        return {}
    return {
        "torch.nn.functional": lambda module: torch_functional(module, plan.factor),
        "keras.src.layers.normalization.batch_normalization": lambda module: keras_layers(module, plan.factor),
    }


def torch_functional(module: Any, count: int) -> None:
    """`torch.nn.functional.batch_norm`, which the layers call."""

    def shared(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(input: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 the name callers may use
            if input.shape[0] < count or input.shape[0] % count:
                return original(input, *args, **kwargs)
            parts = [original(input[rank::count], *args, **kwargs) for rank in range(count)]
            whole = parts[0].new_empty(input.shape)
            for rank, part in enumerate(parts):
                whole[rank::count] = part
            return whole

        return run

    wrap(module, "batch_norm", shared)


def keras_layers(module: Any, count: int) -> None:
    """The layers of Keras, fused or not."""

    def shared(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            known = inputs.shape[0]
            if known is not None and known < count:
                return original(self, inputs, *args, **kwargs)
            tf = tensorflow()
            parts = [original(self, inputs[rank::count], *args, **kwargs) for rank in range(count)]
            places = [tf.range(rank, tf.shape(inputs)[0], count) for rank in range(count)]
            whole = tf.dynamic_stitch(places, parts)
            whole.set_shape(inputs.shape)
            return whole

        return call

    wrap(module.BatchNormalizationBase, "call", shared)
