"""Library classes that have rules: their bases and members."""

from __future__ import annotations

from distml.ops.registry import find_attribute, find_layer, find_op


def library_bases(name: str) -> tuple[str, ...]:
    """A library class and its bases as far as there are rules, in resolution order."""
    rules = find_layer(name)
    if rules is None:
        return (name,)
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


def library_member(cls: str, name: str) -> str | None:
    """The qualified name of the op or attribute a library class has under `name`."""
    for base in library_bases(cls):
        full = f"{base}.{name}"
        if find_op(full) is not None or find_attribute(full) is not None:
            return full
    return None
