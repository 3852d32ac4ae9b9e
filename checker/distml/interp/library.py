"""Library classes that have rules: their bases and members."""

from __future__ import annotations

from functools import lru_cache

from distml.ops.registry import find_attribute, find_layer, find_op
from distml.values import Lib, Value

MODULE_BASES = frozenset(
    {
        "torch.nn.Module",
        "pytorch_lightning.LightningModule",
        "lightning.LightningModule",
        "lightning.pytorch.LightningModule",
        "pl.LightningModule",
    }
)
"""Library classes whose call runs `forward`, and whose objects can do what every module can."""

VERSIONS = {
    **{f"keras.layers.Conv{axes}DTranspose": f"keras.layers.Conv{axes}D" for axes in (1, 2, 3)},
    "keras.layers.AdditiveAttention": "keras.layers.Attention",
}
"""Classes that come from another in some versions of their library."""
_NAMES = 1 << 14
"""Names whose rules are remembered: those of a library are all there once one of them was looked for."""

QUESTIONS = {
    "inspect.isclass": "builtins.type",
    "inspect.isfunction": "types.FunctionType",
    "inspect.ismethod": "types.MethodType",
    "inspect.isbuiltin": "types.BuiltinFunctionType",
    "inspect.isgenerator": "types.GeneratorType",
    "inspect.ismodule": "types.ModuleType",
}
"""What asks for the class of a value, and for which: https://docs.python.org/3/library/inspect.html#types-and-members."""
PYDANTIC = ("pydantic.BaseModel", "pydantic.main.BaseModel")
VALIDATE = tuple(f"{model}.{name}" for model in PYDANTIC for name in ("model_validate", "parse_obj"))
CLASS_METHODS = frozenset({"torch.autograd.Function.apply", "torch.autograd.function.Function.apply", *VALIDATE})
"""What classes of the program inherit from a library and are called themselves for."""


@lru_cache(_NAMES)
def library_bases(name: str) -> tuple[str, ...]:
    """A library class and its bases as far as there are rules, in resolution order."""
    rules = find_layer(name)
    if rules is None:
        return (name, *library_bases("torch.nn.Module")) if name in MODULE_BASES else (name,)
    default = ("torch.nn.Module",) if name.startswith("torch.nn.") else ()
    bases: tuple[str, ...] = getattr(rules, "bases", default)
    found = [name]
    for base in bases:
        if base != name:
            found.extend(b for b in library_bases(base) if b not in found)
    return tuple(found)


def entry_of(name: str) -> str | None:
    """The method that calling an object of a library class runs; None where it is no layer."""
    found = (getattr(find_layer(base), "entry", None) for base in library_bases(name))
    return next((entry for entry in found if entry is not None), None)


@lru_cache(_NAMES)
def library_member(cls: str, name: str) -> str | None:
    """The qualified name of the op or attribute a library class has under `name`."""
    for base in library_bases(cls):
        full = f"{base}.{name}"
        if find_op(full) is not None or find_attribute(full) is not None:
            return full
    return None


def is_module(mro: tuple[Value | None, ...]) -> bool:
    """Whether instances of a class are layers: calling them runs one of their methods."""
    names = (base.name for base in mro if isinstance(base, Lib))
    return any(name in MODULE_BASES or entry_of(name) is not None for name in names)
