"""Random numbers that a script draws while it trains: no two processes draw the same, so losses differ a little.

Shuffling, dropout and noise layers are turned off elsewhere; what a script draws itself is its own business, and noted.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .graphs import eager
from .importing import Hook, wrap
from .recorder import Recorder

DRAWN = "random numbers"
TORCH = ("randn", "rand", "randn_like", "rand_like", "randint", "normal", "bernoulli", "multinomial")
TENSOR = ("normal_", "uniform_", "bernoulli_", "random_")
TENSORFLOW = ("normal", "uniform", "truncated_normal", "categorical", "gamma")
KERAS = ("random_normal", "random_uniform", "truncated_normal")
NUMPY = ("normal", "uniform", "randn", "rand", "random", "randint")


def hooks(recorder: Recorder) -> dict[str, Hook]:
    """By the module after which they are made."""

    def training() -> None:
        if recorder.training():
            recorder.apart(DRAWN)

    def building() -> None:
        if recorder.training() or not eager():
            recorder.apart(DRAWN)

    def torch(module: Any) -> None:
        # What a default device holds for is a set of functions, made once: it has to know them as they were.
        importlib.import_module("torch.utils._device")._device_constructors()
        _each(module, TORCH, training)
        _each(module.Tensor, TENSOR, training)

    def tensorflow(module: Any) -> None:
        for api in (module.random, module.compat.v1):
            _each(api, TENSORFLOW, building)
        _each(module.compat.v1, ("random_normal", "random_uniform"), building)

    return {
        "torch": torch,
        "tensorflow": tensorflow,
        "keras.src.backend": lambda module: _each(module, KERAS, building),
        "numpy.random": lambda module: _each(module, NUMPY, training),
    }


def _each(owner: Any, names: tuple[str, ...], tell: Callable[[], None]) -> None:
    def told(original: Callable[..., Any]) -> Callable[..., Any]:
        def draw(*args: Any, **kwargs: Any) -> Any:
            tell()
            return original(*args, **kwargs)

        return draw

    for name in names:
        if name in vars(owner) or not isinstance(owner, type):
            wrap(owner, name, told)
        else:  # what `Tensor` inherits from its C base
            setattr(owner, name, told(getattr(owner, name)))
