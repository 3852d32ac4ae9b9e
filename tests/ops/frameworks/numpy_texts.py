"""The calls of NumPy in `tests/ops/numpy_calls`, with real arrays for what they name: jax.numpy is to take them too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

CALLS = Path(__file__).parents[1] / "numpy_calls"


class Named:
    """A name of NumPy; calling it gives the name and the arguments."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "name")
        return own if name == "name" else Named(f"{own}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[str, list[Any], dict[str, Any]]:
        return self.name, list(args), kwargs


def counted(*shape: int) -> Any:
    """Small integers."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7


MAKERS = {
    "A": lambda *shape: counted(*shape).astype("float32"),
    "I": lambda *shape: counted(*shape).astype("int32"),
    "B": lambda *shape: counted(*shape) % 2 == 0,
    "C": lambda *shape: (counted(*shape) + 1j).astype("complex64"),
    "U": lambda *shape: counted(*shape).astype("uint8"),
    "E": lambda n: (np.eye(n) + 0.01 * np.arange(n)).astype("float32"),
    "S": slice,
    "Ellipsis": Ellipsis,
    "True": True,
    "None": None,
    "float": "float",
    "int": "int",
    "bool": "bool",
}


class Names(Mapping[str, Any]):
    """The names of a call: the makers, and whatever else is NumPy's."""

    def __getitem__(self, name: str) -> Any:
        return MAKERS[name] if name in MAKERS else Named(name)

    def __iter__(self) -> Iterator[str]:
        return iter(MAKERS)

    def __len__(self) -> int:
        return len(MAKERS)


def numpy_calls() -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Name, arguments and keywords of each call that needs nothing but arrays and constants."""
    for file in ("works", "fails"):
        for line in filter(None, (CALLS / f"{file}.txt").read_text("utf-8").splitlines()):
            if not any(
                word in line for word in ("object", "F.", "G.", "dtype='U", "from", "__setitem__", "__contains__")
            ):
                yield eval(line, {"__builtins__": {}}, Names())


def described(value: Any) -> Any:
    """An argument as a record has it; an error for what it cannot have."""
    if isinstance(value, np.ndarray):
        return {"tensor": list(value.shape), "kind": value.dtype.name}
    if isinstance(value, tuple):
        return {"tuple": [described(item) for item in value]}
    if isinstance(value, list):
        return [described(item) for item in value]
    if isinstance(value, slice):
        return {"slice": [described(part) for part in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"dots": True}
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{type(value).__name__} is not recorded")
