"""Keras and tf.data: optimizers, batches as they are read, larger batches for one process, and no chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .graphs import after, eager, note, tensorflow, values
from .importing import Hook, wrap
from .tensorflow_hooks import TensorFlow

FIT_BATCH = 32
"""The batch size of `fit` where none is given."""


def hooks(tensorflow_hooks: TensorFlow) -> dict[str, Hook]:
    """By the module after which they are made."""
    found = Keras(tensorflow_hooks)
    every: dict[str, Hook] = {
        "keras.src.optimizers.optimizer": found.optimizer,
        "keras.src.optimizers.legacy.optimizer_v2": found.legacy,
        "keras.src.engine.training": found.models,
        "tensorflow.python.data.ops.dataset_ops": found.datasets,
        "tensorflow.python.data.ops.iterator_ops": found.iterators,
        "tensorflow_estimator.python.estimator.inputs.numpy_io": found.queues,
        "horovod._keras.callbacks": found.warmup,
    }
    if found.recorder.plan.still:
        every["keras.src.backend"] = dropout
        every["keras.src.layers.regularization.gaussian_noise"] = noise
        every["tensorflow"] = dropout_ops
    return every


class Keras:
    """The hooks, over one recorder."""

    def __init__(self, tensorflow_hooks: TensorFlow) -> None:
        self.recorder = tensorflow_hooks.recorder
        self.tensorflow = tensorflow_hooks

    def optimizer(self, module: Any) -> None:
        """The optimizers of Keras."""
        rate = self.recorder.plan.rate

        def build(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, learning_rate: Any) -> Any:
                return original(self, _scaled(learning_rate, rate))

            return run

        wrap(module._BaseOptimizer, "_build_learning_rate", build)
        wrap(module.Optimizer, "apply_gradients", self._apply)

    def legacy(self, module: Any) -> None:
        """The optimizers of Keras before 2.11."""
        rate = self.recorder.plan.rate

        def hyper(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, name: str, value: Any) -> Any:
                first = name == "learning_rate" and name not in self._hyper
                return original(self, name, _scaled(value, rate) if first else value)

            return run

        wrap(module.OptimizerV2, "_set_hyper", hyper)
        wrap(module.OptimizerV2, "apply_gradients", self._apply)

    def _apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hooks = self.tensorflow

        def run(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            if eager() and hooks.depth == 0 and hooks.recorder.enough():
                hooks.boundary()
            pairs = list(grads_and_vars)
            done = original(self, pairs, *args, **kwargs)
            return hooks.applied(self, [variable for _, variable in pairs], done)

        return run

    def models(self, module: Any) -> None:
        """What models are fitted on and called on."""
        plan = self.recorder.plan

        def fit(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, x: Any = None, y: Any = None, batch_size: Any = None, *args: Any, **kwargs: Any) -> Any:
                arrays = y is not None or batch_size is not None or hasattr(x, "shape")
                if arrays and plan.factor > 1:
                    batch_size = (batch_size or FIT_BATCH) * plan.factor
                if plan.still and len(args) < 6:
                    kwargs["shuffle"] = False
                return original(self, x, y, batch_size, *args, **kwargs)

            return run

        def call(original: Callable[..., Any]) -> Callable[..., Any]:
            recorder = self.recorder

            def run(self: Any, *args: Any, **kwargs: Any) -> Any:
                for layer in getattr(self, "layers", []):
                    if type(layer).__name__.startswith("BatchNorm"):
                        recorder.apart("batch normalization")
                return original(self, *args, **kwargs)

            return run

        wrap(module.Model, "fit", fit)
        wrap(module.Model, "__call__", call)

    def datasets(self, module: Any) -> None:
        """Larger batches, and data in order."""
        plan = self.recorder.plan

        def larger(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, batch_size: Any, *args: Any, **kwargs: Any) -> Any:
                return original(self, batch_size * plan.factor, *args, **kwargs)

            return run

        def ordered(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, *args: Any, **kwargs: Any) -> Any:
                return self

            return run

        for name in ("batch", "padded_batch"):
            wrap(module.DatasetV2, name, larger)
        if plan.still:
            wrap(module.DatasetV2, "shuffle", ordered)

    def iterators(self, module: Any) -> None:
        """Batches, as iterators give them."""
        recorder = self.recorder

        def read(*arrays: Any) -> None:
            recorder.batch("loader", list(arrays))

        def following(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(self: Any, *args: Any, **kwargs: Any) -> Any:
                found = original(self, *args, **kwargs)
                return after(note(read, values(tensorflow().nest.flatten(found))), found)

            return run

        wrap(module.OwnedIterator, "_next_internal", following)
        wrap(module.Iterator, "get_next", following)

    def queues(self, module: Any) -> None:
        """Batches of estimators that are fed with arrays."""
        recorder = self.recorder

        def read(*arrays: Any) -> None:
            recorder.batch("loader", list(arrays))

        def function(original: Callable[..., Any]) -> Callable[..., Any]:
            def make(x: Any, y: Any = None, batch_size: int = 128, *args: Any, **kwargs: Any) -> Callable[[], Any]:
                if recorder.plan.still and len(args) < 2:
                    kwargs["shuffle"] = False
                made = original(x, y, batch_size * recorder.plan.factor, *args, **kwargs)

                def given() -> Any:
                    found = made()
                    return after(note(read, values(tensorflow().nest.flatten(found))), found)

                return given

            return make

        wrap(module, "numpy_input_fn", function)

    def warmup(self, module: Any) -> None:
        """A learning rate that rises slowly is no mistake, but would hide one."""
        if self.recorder.plan.still:
            still: Callable[..., None] = lambda self, *args, **kwargs: None  # noqa: E731
            for name in ("on_batch_begin", "on_batch_end", "on_epoch_end"):
                setattr(module.LearningRateWarmupCallbackImpl, name, still)


def _scaled(rate: Any, factor: float) -> Any:
    """A learning rate, or a schedule of learning rates, times `factor`."""
    if factor == 1.0:
        return rate
    if not callable(rate):
        return rate * factor
    kind = type(rate)
    if hasattr(rate, "get_config"):
        rate.__class__ = type(
            kind.__name__, (kind,), {"__call__": lambda self, step: kind.__call__(self, step) * factor}
        )
        return rate
    return lambda: rate() * factor


def dropout(module: Any) -> None:
    """No dropout in Keras."""
    wrap(module.RandomGenerator, "dropout", lambda original: lambda self, inputs, *args, **kwargs: inputs)


def noise(module: Any) -> None:
    """No noise in Keras."""
    wrap(module.GaussianNoise, "call", lambda original: lambda self, inputs, *args, **kwargs: inputs)


def dropout_ops(module: Any) -> None:
    """No dropout in plain TensorFlow."""

    def identity(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(x: Any, *args: Any, **kwargs: Any) -> Any:
            return x

        return run

    for api in (module, module.compat.v1):
        wrap(api.nn, "dropout", identity)
