"""Decorators of functions and classes."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.budget import DECORATOR_STEPS, briefly, steps_of_import
from distml.interp.calls import call_value
from distml.interp.class_record import ClassRecord, Property
from distml.interp.classes import COPY, library_trait
from distml.interp.fields import DATACLASSES, declare
from distml.interp.giving_up import forget_changed
from distml.interp.metaclasses import handed_metaclass, made_by_metaclass
from distml.values import NONE, Bound, Class, Function, Lib, LibMethod, Opaque, Partial, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine

REPLACED = frozenset({"flax.struct.dataclass"})
"""Of these, `x.replace(...)` is `dataclasses.replace(x, ...)`."""


def decorate_function(vm: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, function: Value) -> Value:
    """Apply the decorators of a function, innermost first."""
    value = function
    for decorator in reversed(node.decorator_list):
        if _is_accessor(decorator):
            value = _accessor(vm, decorator, value)
            continue
        target = vm.language.evaluate(vm, decorator)
        value = _decorated(vm, target, value, decorator)
    return value


def _is_accessor(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter")


def _accessor(vm: Machine, decorator: ast.expr, value: Value) -> Value:
    assert isinstance(decorator, ast.Attribute)
    before = vm.language.evaluate(vm, decorator.value)
    if not isinstance(before, Property):
        return vm.opaque(decorator.attr)
    if decorator.attr == "getter":
        return replace(before, getter=value)
    return replace(before, setter=value) if decorator.attr == "setter" else replace(before, deleter=value)


def _decorated(vm: Machine, target: Value, value: Value, node: ast.expr) -> Value:
    if isinstance(target, Lib) and target.name in TRANSPARENT:
        return value
    if isinstance(target, Opaque | LibMethod | Lib) and not _known(vm, target):
        return vm.opaque(vm.snippet(node))
    return _applied(vm, target, value, node)


def _applied(vm: Machine, target: Value, value: Value, node: ast.expr) -> Value:
    found = _given(vm, target, value, node)
    return vm.opaque(vm.snippet(node)) if found is None else found


def _given(vm: Machine, target: Value, value: Value, node: ast.expr) -> Value | None:
    """What a decorator makes of something; None where that takes too much work, and what it changes is forgotten."""
    steps = steps_of_import(vm, DECORATOR_STEPS)
    found = briefly(vm, steps, lambda: call_value(vm, target, Arguments([value]), node))
    if found is None and isinstance(target, Function):
        forget_changed(vm, target)
    return found


def _known(vm: Machine, target: Value) -> bool:
    from distml.ops.registry import find_op

    if isinstance(target, LibMethod):
        return find_op(target.name) is not None
    return isinstance(target, Lib) and (
        vm.language.special(target.name) is not None or find_op(target.name) is not None
    )


TRANSPARENT = frozenset(
    {
        "contextlib.nullcontext",
        "contextlib.contextmanager",
        "torch.no_grad",
        "torch.inference_mode",
        "torch.enable_grad",
        "torch.jit.script",
        "torch.jit.script_method",
        "torch.jit.export",
        "torch.jit.ignore",
        "torch.jit.unused",
        "torch.jit._overload_method",
        "torch.compile",
        "torch.compiler.disable",
        "torch.cuda.amp.autocast",
        "torch.amp.autocast",
        "functools.wraps",
        "functools.identity",
        "functools.total_ordering",
        "abc.abstractmethod",
        "typing.overload",
        "typing.final",
        "typing.no_type_check",
        "typing.runtime_checkable",
        "typing_extensions.override",
        "typing.override",
        "jaxtyping.jaxtyped",
        "beartype.beartype",
        "typeguard.typechecked",
    }
)
"""Decorators that leave what the function computes as it is."""


def decorate_class(vm: Machine, node: ast.ClassDef, record: ClassRecord, cls: Class) -> Value:
    """Apply the decorators of a class."""
    value: Value = cls
    more = library_trait(record.mro, "fields")
    if more is not None:
        declare(vm, node, record, "", {})
        own = [field for field in record.fields or () if field[0] not in more]
        record.fields = (*own, *((name, NONE) for name in more))
    for decorator in reversed(node.decorator_list):
        inner = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = _library_name(vm.language.evaluate(vm, inner))
        if name in DATACLASSES:
            given = decorator.keywords if isinstance(decorator, ast.Call) else ()
            declare(
                vm, node, record, name, {each.arg: vm.language.evaluate(vm, each.value) for each in given if each.arg}
            )
            if name in REPLACED:
                record.attrs.setdefault("replace", COPY)
        elif name not in TRANSPARENT:
            value = _redecorated(vm, node, decorator, value, record)
    return value


def _library_name(value: Value) -> str:
    return value.name if isinstance(value, Lib) else ""


def _redecorated(vm: Machine, node: ast.ClassDef, decorator: ast.expr, value: Value, record: ClassRecord) -> Value:
    """Apply a decorator of the project; one that is unknown may change the class."""
    target = vm.language.evaluate(vm, decorator)
    if isinstance(target, Function | Bound | Partial | Class):
        result = _given(vm, target, value, decorator)
        if result is None:
            # It may have put anything in the place of a method before its steps were used up.
            return vm.opaque(record.name)
        if not isinstance(result, Opaque):
            return result
    metaclass, others = handed_metaclass(vm, decorator)
    if metaclass is not None and not others and isinstance(value, Class):
        record.metaclass = metaclass
        made_by_metaclass(vm, value, {}, node)
        return value
    if not _registers(decorator):
        record.mro = (*record.mro, None)
    return value


def _registers(decorator: ast.expr) -> bool:
    """A decorator that, by its name, only enters the class into a table."""
    return "regist" in ast.unparse(decorator).lower()
