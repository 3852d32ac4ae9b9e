"""The table of ops, filled by walking the package of a library on first use.

An op is one function, registered by the qualified names it answers to. It takes
a `Call` and the abstract arguments, named as the library names them, and returns
an abstract value or raises `ShapeError` through the call.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from distml.ops.call import Call
    from distml.values import Value

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_Class = TypeVar("_Class", bound=type)

_OPS: dict[str, Callable[..., Any]] = {}
_ATTRIBUTES: dict[str, Callable[..., Any]] = {}
_LAYERS: dict[str, type] = {}
_LOADED: set[str] = set()

MANY = "__many__"
"""The attribute of an object that stands for several: what one of them learns is not true of the others."""
MADE = "__made__"
"""The attribute of a layer that holds what it made of its first input, and the note on a tensor that says which layer made it
of what."""
BUILT = "built"
"""The attribute of a layer that has its weights since its first input."""
LIBRARIES = {
    "numpy": "numpy",
    "torch": "torch",
    "einops": "einops",
    "tensorflow": "bindings.tensorflow",
    "keras": "bindings.keras",
    "jax": "bindings.jax",
    "optax": "bindings.optax",
    "flax": "bindings.flax",
    **dict.fromkeys(
        (
            "argparse builtins collections copy functools itertools math operator os random types typing"
            " atexit fnmatch gc getpass glob inspect io json logging multiprocessing pickle platform pprint secrets"
            " shutil signal socket string sys tempfile textwrap threading time timeit tomllib traceback"
            " typing_extensions warnings yaml"
            " alive_progress lightning pytorch_lightning fastprogress progressbar rich tqdm"
        ).split(),
        "python",
    ),
}
"""Top-level module name -> folder of ops."""


def op(*names: str) -> Callable[[_Function], _Function]:
    """Register a function as the op of `names`, such as "torch.cat" or "torch.Tensor.view"."""

    def register(function: _Function) -> _Function:
        for name in names:
            if name in _OPS:
                raise ValueError(f"two ops named {name}")
            _OPS[name] = function
        return function

    return register


def attribute(*names: str) -> Callable[[_Function], _Function]:
    """Register a function of (call, self) as an attribute such as "torch.Tensor.T"."""

    def register(function: _Function) -> _Function:
        for name in names:
            if name in _ATTRIBUTES:
                raise ValueError(f"two attributes named {name}")
            _ATTRIBUTES[name] = function
        return function

    return register


def layer(*names: str) -> Callable[[_Class], _Class]:
    """Register a class as the rules of layer classes such as "torch.nn.Linear"."""

    def register(cls: _Class) -> _Class:
        for name in names:
            if name in _LAYERS:
                raise ValueError(f"two layers named {name}")
            _LAYERS[name] = cls
        return cls

    return register


def find_op(name: str) -> Callable[..., Any] | None:
    """The op registered under a qualified name, None if there is none."""
    _load(name)
    return _OPS.get(name) or _OPS.get(_public(name))


def find_attribute(name: str) -> Callable[..., Any] | None:
    """The attribute registered under a qualified name, None if there is none."""
    _load(name)
    return _ATTRIBUTES.get(name)


def find_layer(name: str) -> type | None:
    """The layer class registered under a qualified name, None if there is none."""
    _load(name)
    return _LAYERS.get(name) or _LAYERS.get(_public(name))


def _public(name: str) -> str:
    """`torch.nn.modules.conv.Conv2d` and `torch.nn.modules.Conv2d` are `torch.nn.Conv2d`."""
    if not name.startswith("torch.nn.modules."):
        return name
    parts = name.split(".")
    return ".".join(["torch.nn", *parts[3 if parts[3][:1].isupper() else 4 :]]) if len(parts) > 3 else name


def answered(
    call: Call, name: str, rule: Callable[..., Any] | None, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Value:
    """What the rule of the function `name` says in the place of the one that is called; nothing is known where there is none,
    or it does not take these arguments.
    """
    call.name = name
    if rule is None or not binds(rule, call, *args, **kwargs):
        return call.unknown()
    return rule(call, *args, **kwargs)  # type: ignore[no-any-return]


_signature = functools.cache(inspect.signature)
"""Rules are asked again and again."""


def binds(function: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Whether Python would bind the arguments."""
    try:
        _signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def names() -> tuple[list[str], list[str]]:
    """All names of ops and of layers, sorted; loads every library."""
    for library in LIBRARIES:
        _load(library)
    return sorted(_OPS), sorted(_LAYERS)


def homes() -> dict[str, str]:
    """Every registered name and the module that its rules are in; loads every library."""
    names()
    tables: tuple[dict[str, Any], ...] = (_OPS, _ATTRIBUTES, _LAYERS)
    return {name: table[name].__module__ for table in tables for name in table}


def _load(name: str) -> None:
    folder = LIBRARIES.get(name.partition(".")[0])
    if folder is None or folder in _LOADED:
        return
    _LOADED.add(folder)
    package = importlib.import_module(f"distml.ops.{folder}")
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
