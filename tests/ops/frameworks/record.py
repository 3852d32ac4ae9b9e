"""Runs random calls of TensorFlow or Keras for real and writes what each gave.

`PYTHONPATH=tests PYTHON -m ops.frameworks.record tensorflow|keras OUT.jsonl`, with a Python that has the library
(`.ci/horovod tensorflow` makes one); nothing of distml is imported. `ops/recorded.py` replays what it wrote. A line is one
call: the name, the arguments, and the shapes it gave or the error it raised.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ops.frameworks.drawing import COUNT
from ops.frameworks.functions import TENSORFLOW
from ops.frameworks.layers import KERAS
from ops.frameworks.preprocessing import OPERATIONS, PREPROCESSING


def made(value: Any, zeros: Callable[..., Any]) -> Any:
    """The real argument that a description stands for."""
    if isinstance(value, list):
        return [made(item, zeros) for item in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return zeros(value["tensor"], value["kind"], "identity" in value)
    if "tuple" in value:
        return tuple(made(item, zeros) for item in value["tuple"])
    return slice(*value["slice"]) if "slice" in value else Ellipsis


def told(result: Any) -> Any:
    """What a result is, for the record."""
    if isinstance(result, list | tuple):
        return [told(item) for item in result]
    kind = str(getattr(result.dtype, "name", result.dtype))
    return {"tensor": [int(size) for size in result.shape], "kind": kind}


def run(line: dict[str, Any], call: Callable[[], Any]) -> dict[str, Any]:
    """The line with what the call gave."""
    try:
        return {**line, "gave": told(call())}
    except Exception as error:
        return {**line, "raised": f"{type(error).__name__}: {error}".splitlines()[0][:160]}


def tensorflow() -> Iterator[dict[str, Any]]:
    """Calls of tf, run eagerly."""
    import tensorflow as tf

    def zeros(sizes: list[int], kind: str, identity: bool = False) -> Any:
        ahead, square = sizes[:-2], len(sizes) > 1 and identity
        return tf.eye(*sizes[-2:], batch_shape=ahead) if square else tf.zeros(sizes, kind)

    for name, draw in TENSORFLOW.items():
        if name.endswith("_"):
            continue
        for _ in range(COUNT):
            called, args, kwargs = draw()
            function: Any = tf
            for part in called.split("."):
                function = getattr(function, part)
            real = [made(arg, zeros) for arg in args], {key: made(value, zeros) for key, value in kwargs.items()}
            line = {"name": f"tensorflow.{called.removeprefix('compat.v1.')}", "args": args, "kwargs": kwargs}
            yield run(line, lambda f=function, real=real: f(*real[0], **real[1]))  # type: ignore[misc]


def keras() -> Iterator[dict[str, Any]]:
    """Layers, called with what stands for tensors while a model is made."""
    try:
        from tensorflow import keras as library
    except ImportError:
        import keras as library

    def zeros(sizes: list[int]) -> Any:
        return library.Input(batch_shape=tuple(sizes))

    for name, draw in (KERAS | PREPROCESSING).items():
        if not hasattr(library.layers, name):
            continue
        for _ in range(COUNT):
            args, kwargs, inputs = draw(name)
            line = {"name": f"keras.layers.{name}", "args": args, "kwargs": kwargs, "inputs": inputs}
            real = [made(arg, zeros) for arg in args], {key: made(value, zeros) for key, value in kwargs.items()}

            def call(name: str = name, real: Any = real, inputs: Any = inputs) -> Any:
                layer = getattr(library.layers, name)(*real[0], **real[1])
                given = [zeros(sizes) for sizes in inputs]
                return layer(given if len(given) > 1 else given[0])

            yield run(line, call)
    if hasattr(library, "ops"):
        yield from operations(library.ops)


def operations(library: Any) -> Iterator[dict[str, Any]]:
    """Calls of keras.ops."""
    for name, draw in OPERATIONS.items():
        for _ in range(COUNT):
            called, args, kwargs = draw()
            function: Any = library
            for part in called.split("."):
                function = getattr(function, part)
            given = [made(arg, lambda sizes, kind, _: library.zeros(sizes, kind)) for arg in args]
            line = {"name": f"keras.ops.{name}", "args": args, "kwargs": kwargs}
            yield run(line, lambda f=function, given=given, kwargs=kwargs: f(*given, **kwargs))  # type: ignore[misc]


def main() -> None:
    """Write the record of one library."""
    lines = {"tensorflow": tensorflow, "keras": keras}[sys.argv[1]]()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


if __name__ == "__main__":
    main()
