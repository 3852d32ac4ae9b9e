"""Runs calls of JAX, Flax and Optax for real and writes what each gave; see `record.py`.

`PYTHONPATH=tests PYTHON -m ops.frameworks.record_jax jax|flax|keras_ops OUT.jsonl`. A call is traced (`jax.eval_shape`), or run
where it needs the numbers themselves.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import jax
import numpy as np

from ops.frameworks import keras_functions
from ops.frameworks.drawing import COUNT
from ops.frameworks.jax_functions import FUNCTIONS
from ops.frameworks.jax_layers import LINEN, NNX
from ops.frameworks.numpy_texts import described, numpy_calls
from ops.frameworks.record import made

NOT_ABOUT_SHAPES = re.compile(
    r"dtype|requires ndarray|not a valid JAX|non-tuple sequence|unexpected keyword|positional argument|out argument"
    r"|does not support|must be an? (int|str|array|bool)|mplemented|Tracer|Concret|boolean ind|type|static|immutable"
    r"|AttributeError"
)
OF_BACKENDS = re.compile(r"jax\.numpy|inhomogen|ambiguous|not supported|Pad\.call|None is not|JAX RNG|jnp\.")
"""Errors that functions of Keras raise on JAX alone, or about other things than shapes."""


def found(path: str) -> Any:
    """What a qualified name stands for; None if there is none."""
    root, *parts = path.split(".")
    if path.startswith("jax.scipy."):
        importlib.import_module(path.rpartition(".")[0])
    value: Any = importlib.import_module(root)
    for part in parts:
        value = getattr(value, part, None)
    return value


def told(result: Any) -> Any:
    """What a result is, for the record."""
    if isinstance(result, bool | int | str) or result is None:
        return result
    if isinstance(result, list | tuple):
        return [told(item) for item in result]
    return {"tensor": [int(size) for size in result.shape], "kind": str(np.dtype(result.dtype))}


def traced(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What the call gives: arrays are traced, everything else is as it is."""
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs), is_leaf=lambda leaf: leaf is None)
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
    gave: list[Any] = []

    def run(*given: Any) -> None:
        rest = iter(given)
        again = [next(rest) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
        positional, named = jax.tree_util.tree_unflatten(tree, again)
        gave.append(told(function(*positional, **named)))

    try:
        jax.eval_shape(run, *arrays)
    except jax.errors.JAXTypeError:
        run(*(jax.numpy.asarray(array) for array in arrays))
    return gave[-1]


def line_of(name: str, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """A call with what it gave; None where it fails for another reason than shapes."""
    line = {"name": name, "args": described(args), "kwargs": {key: described(value) for key, value in kwargs.items()}}
    try:
        return {**line, "gave": traced(function, args, kwargs)}
    except Exception as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0][:160]
        return None if NOT_ABOUT_SHAPES.search(text) else {**line, "raised": text}


def of_numpy() -> Iterator[dict[str, Any] | None]:
    """The calls of NumPy, made of jax.numpy and of its arrays."""
    untold = ("jax.numpy.set_printoptions", "jax.numpy.put", "jax.numpy.put_along_axis")
    for name, args, kwargs in numpy_calls():
        method = name.removeprefix("ndarray.")
        path = f"jax.Array.{method}" if method != name else f"jax.numpy.{name}"
        function = found(path)
        if not callable(function) or path in untold:
            continue
        if method != name:
            function = lambda first, *rest, method=method, **options: getattr(  # noqa: E731
                jax.numpy.asarray(first), method
            )(*rest, **options)
        try:
            yield line_of(path, function, args, kwargs)
        except TypeError:
            continue


def drawn() -> Iterator[dict[str, Any] | None]:
    """Random calls of the other functions."""
    for path, draw in FUNCTIONS.items():
        for _ in range(COUNT):
            args, kwargs = draw()
            yield line_of(path, found(path), args, kwargs)


def of_keras() -> Iterator[dict[str, Any] | None]:
    """Calls of keras.ops and keras.random on JAX: NumPy's by name, and drawn ones."""
    library: Any = importlib.import_module("keras")

    def arrays(sizes: list[int], kind: str, _: bool) -> Any:
        return np.zeros(sizes, kind)

    for space, table in (("ops", keras_functions.FUNCTIONS), ("random", keras_functions.DRAWS)):
        for name, draw in table.items():
            for _ in range(COUNT):
                _, args, kwargs = draw()
                real = [made(arg, arrays) for arg in args]
                yield line_of(f"keras.{space}.{name}", found(f"keras.{space}.{name}"), real, kwargs)
    for name, args, kwargs in numpy_calls():
        function = found(f"keras.ops.{name}")
        if callable(function) and name not in ("vectorize", "unique", "vsplit") and "ndarray" not in name:
            try:
                line = line_of(f"keras.ops.{name}", function, args, kwargs)
            except TypeError:
                continue
            yield None if line is None or OF_BACKENDS.search(line.get("raised", "")) else line
    assert library.backend.backend() == "jax"


def layers() -> Iterator[dict[str, Any] | None]:
    """Layers of Flax, made and called; those of linen on parameters that they make themselves."""
    from flax import linen, nnx

    for library, table in ((linen, LINEN), (nnx, NNX)):
        for name, draw in table.items():
            for _ in range(2 * COUNT):
                args, kwargs, inputs = draw()
                kind = "int32" if name == "Embed" else "float32"
                arrays = [np.zeros(sizes, kind) for sizes in inputs]

                def call(*given: Any, name: str = name, args: Any = args, kwargs: Any = kwargs) -> Any:
                    if library is nnx:  # noqa: B023
                        return getattr(nnx, name)(*args, **kwargs, rngs=nnx.Rngs(0))(*given)
                    made = getattr(linen, name)(*args, **kwargs)
                    return made.init_with_output(jax.random.PRNGKey(0), *given)[0]

                line = line_of(f"{library.__name__}.{name}", call, arrays, {})
                if line is not None:
                    told_args = [described(arg) for arg in args]
                    options = {key: described(value) for key, value in kwargs.items()}
                    yield {**line, "args": told_args, "kwargs": options, "inputs": inputs}


def main() -> None:
    """Write the record of one library."""
    lines = {"jax": lambda: chain(of_numpy(), drawn()), "flax": layers, "keras_ops": of_keras}[sys.argv[1]]()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines if line is not None)


if __name__ == "__main__":
    main()
