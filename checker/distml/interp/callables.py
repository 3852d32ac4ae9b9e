"""What functions, methods and partials say of themselves, and what a call of `x.__call__` is a call of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.classes import lookup
from distml.interp.library import is_module, library_member
from distml.ops.registry import find_layer, find_op
from distml.values import (
    Bound,
    Class,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    Lib,
    LibMethod,
    Partial,
    Prim,
    Ref,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def of_partial(vm: Machine, value: Partial, name: str) -> Value | None:
    """What `functools.partial(f, ...)` says of itself."""
    if name == "func":
        return value.function
    if name == "args":
        return Tup(value.args)
    if name == "keywords":
        return vm.allocate(DictRecord({Const(key): each for key, each in value.kwargs}))
    return None


def of_function(vm: Machine, value: Function | Bound, name: str) -> Value:
    """What a function or a method says of itself."""
    if name == "__self__" and isinstance(value, Bound):
        return value.receiver
    function = value.function if isinstance(value, Bound) else value
    if name in ("__name__", "__qualname__") and isinstance(function, Function):
        return Const(function.name) if name == "__name__" else Prim("str")
    if name == "__module__" and isinstance(function, Function):
        source = vm.frame_of(function.frame).module.source
        return Const(source.module) if source is not vm.checked else Prim("str")
    return vm.opaque(name)


def is_called_as_it_is(vm: Machine, value: Value) -> bool:
    """Whether `value.__call__(...)` is `value(...)`: of what is called by itself, not of a class, whose objects it is for.

    https://docs.python.org/3/reference/datamodel.html#object.__call__
    """
    if isinstance(value, Function | Bound | Partial | LibMethod):
        return True
    if isinstance(value, Lib):
        return find_op(value.name) is not None and find_layer(value.name) is None
    record = vm.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or "__call__" in record.attrs:
        return False
    if isinstance(record.cls, Lib):
        return is_module((record.cls,)) and library_member(record.cls.name, "__call__") is None
    mro = vm.at(record.cls.address).mro if isinstance(record.cls, Class) else ()
    return is_module(mro) and lookup(vm, mro, "__call__")[0] is None
