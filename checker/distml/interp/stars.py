"""`from library import *`: the names that a library gives out, looked up when they are used.

What a library exports is what it has rules for: any other name stays unknown. The last import wins, and names that the
program bound before are bound anew (https://docs.python.org/3/reference/simple_stmts.html#the-import-statement).
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from distml.interp.public_names import CONSTANTS, canonical
from distml.ops.registry import find_attribute, find_layer, find_op
from distml.values import Lib, Tup, Value

if TYPE_CHECKING:
    from distml.interp.frames import Frame
    from distml.interp.machine import Machine

STARS = "*"
"""The variable of a module that holds the libraries whose names it took over, in order."""
_UNSURE = {
    "numpy": frozenset({"abs", "bool", "divmod", "max", "min", "pow", "round"}),
    "torch": frozenset({"bool", "compile", "complex", "float", "int", "range"}),
    "jax.numpy": frozenset({"bool", "divmod", "float", "int"}),
}
"""Built-ins that a library replaces, in some versions only (NumPy) or by something that is no function (data types)."""
_WITHHELD = {
    "numpy": frozenset({"float"}),
    "numpy.random": frozenset({"integers", "permuted"}),
    "torch": frozenset(
        """
        BFloat16Tensor HalfTensor broadcast_shapes elu from_dlpack lift_fresh lu pca_lowrank set_default_dtype
        set_grad_enabled svd_lowrank unique
        """.split()
    ),
}
"""What a library has and does not export; of PyTorch, functions that work in place (`add_`) too."""
_BUILTINS = frozenset(dir(builtins))


def import_star(vm: Machine, library: str) -> None:
    """Take over the names of a library."""
    frame = vm.frame.module.frame
    for name in sorted(frame.scope.locals):
        value = None if vm.variable(frame.ident, name) is None else _exported(vm, library, name)
        if value is not None:
            vm.language.assign_name(vm, name, value)
    before = vm.variable(frame.ident, STARS)
    vm.assign(frame.ident, STARS, Tup((*(before.items if isinstance(before, Tup) else ()), Lib(library))))


def from_libraries(vm: Machine, frame: Frame, name: str) -> Value | None:
    """A name of a module that some library gave it; None where none does."""
    stars = vm.variable(frame.ident, STARS)
    if stars is None or name.startswith("_"):
        return None
    if not isinstance(stars, Tup):
        return None if name in _BUILTINS else vm.opaque(name)
    found = (_exported(vm, each.name, name) for each in reversed(stars.items) if isinstance(each, Lib))
    return next((value for value in found if value is not None), None)


def _exported(vm: Machine, library: str, name: str) -> Value | None:
    if name in _WITHHELD.get(library, ()) or (library == "torch" and name.endswith("_")):
        return None
    full = canonical(f"{library}.{name}")
    if name in _UNSURE.get(library, ()):
        return vm.opaque(name)
    known = full in CONSTANTS or vm.language.special(full) or find_op(full) or find_layer(full) or find_attribute(full)
    return vm.language.get_attribute(vm, Lib(library), name, vm.node) if known else None
