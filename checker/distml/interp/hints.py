"""Annotations: they refine what is unknown and are checked where both are known.

An annotation is taken as what its author promises: a parameter annotated
`Float[Tensor, "b 3"]` has two axes, the last of size 3, whoever calls. What is known
to break the promise is a finding (SHP601), as are sizes that cannot be sizes (SHP603).
It is no proof of a type: an unknown value becomes a `Claimed` one.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.annotated_shapes import check_shape, declared_shape
from distml.interp.asked import is_contradicted
from distml.interp.names import lookup_name
from distml.ops import Call
from distml.ops.dialect import LIBRARY_OF_CLASS
from distml.source.annotations import (
    AnyHint,
    Hint,
    OptionalHint,
    ShapeHint,
    TupleHint,
    TypeHint,
    parse_annotation,
)
from distml.values import ClaimedTensor, Const, Function, Lib, Opaque, Prim, Tensor, Tup, Value, claimed, objects_of

if TYPE_CHECKING:
    from distml.interp.machine import Machine

_REMEMBERED = "distml_hint"
_PRIMITIVES = {"builtins.str": "str", "builtins.bool": "bool"}


def refine_parameter(vm: Machine, argument: ast.arg, value: Value) -> Value:
    """The value of a parameter, made as precise as its annotation says."""
    if argument.annotation is None:
        return value
    node = vm.frame.caller if len(vm.stack) > 1 and vm.frame.caller is not None else argument
    function = vm.frame.function
    starred = () if function is None else (function.node.args.vararg, function.node.args.kwarg)
    if argument in starred:
        return _each(vm, argument.annotation, value, argument.arg, node)
    refined = _apply(vm, argument.annotation, value, argument.arg, node)
    if (
        function is not None
        and isinstance(refined, ClaimedTensor)
        and is_contradicted(function.node, argument.arg, refined.lib)
    ):
        return claimed(Tensor("array", refined.shape, met=objects_of(refined)))
    return refined


def _each(vm: Machine, annotation: ast.expr, value: Value, name: str, node: ast.AST) -> Value:
    """What `*name` or `**name` gathers: its annotation is of each argument, so it says nothing of an unknown number of them."""
    if not isinstance(value, Tup):
        return value
    items = tuple(_apply(vm, annotation, item, f"{name}[{i}]", node) for i, item in enumerate(value.items))
    return value if items == value.items else Tup(items)


def refine_return(vm: Machine, function: Function, value: Value) -> Value:
    """The value of a call, checked against the annotation of what it returns."""
    annotation = getattr(function.node, "returns", None)
    if annotation is None or function.kind == "generator":
        return value
    return _apply(vm, annotation, value, f"the result of {function.name}", annotation)


def annotate(vm: Machine, annotation: ast.expr, value: Value, target: ast.expr, node: ast.AST) -> Value:
    """The value of an annotated assignment."""
    return _apply(vm, annotation, value, vm.snippet(target), node)


def hint_of(node: ast.expr) -> Hint:
    """What an annotation says, parsed once."""
    known: Hint | None = getattr(node, _REMEMBERED, None)
    if known is None:
        known = parse_annotation(node)
        setattr(node, _REMEMBERED, known)
    return known


def _apply(vm: Machine, annotation: ast.expr, value: Value, name: str, node: ast.AST) -> Value:
    hint = hint_of(annotation)
    if isinstance(hint, AnyHint):
        return value
    return _refined(vm, hint, value, name, annotation, node)


def _refined(vm: Machine, hint: Hint, value: Value, name: str, annotation: ast.expr, node: ast.AST) -> Value:
    if isinstance(hint, OptionalHint):
        is_none = value == Const(None) or isinstance(value, Opaque)
        return value if is_none else _refined(vm, hint.inner, value, name, annotation, node)
    made = value
    if isinstance(hint, ShapeHint):
        made = _shaped(vm, hint, value, name, annotation, node)
    elif isinstance(hint, TypeHint) and isinstance(value, Opaque):
        made = _typed(vm, hint, value)
    elif isinstance(hint, TupleHint) and not hint.variadic and len(hint.items) > 1:
        # `tuple[int]` is often meant for any number of them.
        made = _tuple(vm, hint, value, name, annotation, node)
    # Where a run is watched the annotations are what is asked about, unless it is of whatever a caller may give.
    trusting = vm.watcher is not None and vm.watcher.trusting
    return claimed(made) if isinstance(value, Opaque) and not trusting else made


def _tuple(vm: Machine, hint: TupleHint, value: Value, name: str, annotation: ast.expr, node: ast.AST) -> Value:
    if isinstance(value, Opaque):
        parts: tuple[Value, ...] = tuple(
            vm.child(value, "item", Const(i), f"{value.name}[{i}]", node) for i in range(len(hint.items))
        )
    elif isinstance(value, Tup) and len(value.items) == len(hint.items):
        parts = value.items
    else:
        return value
    refined = tuple(
        _refined(vm, inner, part, f"{name}[{i}]", annotation, node)
        for i, (inner, part) in enumerate(zip(hint.items, parts, strict=True))
    )
    if isinstance(value, Tup):
        return value if refined == value.items else Tup(refined, value.kind, value.fields, value.cls)
    return Tup(refined)


def _typed(vm: Machine, hint: TypeHint, value: Opaque) -> Value:
    qualified = qualified_name(vm, hint.name)
    lib = LIBRARY_OF_CLASS.get(qualified)
    if lib is not None:
        return Tensor(lib, Call(vm, "annotation", lib).shape(value))
    if qualified == "builtins.int":
        dim = Call(vm, "annotation", "builtins").dim(value)
        return value if dim is None else vm.number(dim)
    kind = _PRIMITIVES.get(qualified)
    return value if kind is None else Prim(kind)


def qualified_name(vm: Machine, name: str) -> str:
    """The qualified name of a library class as it is written here; "" for anything else."""
    first, *rest = name.split(".")
    value: Value = lookup_name(vm, first, vm.node)
    for part in rest:
        if not isinstance(value, Lib):
            return ""
        value = vm.language.get_attribute(vm, value, part, vm.node)
    return value.name if isinstance(value, Lib) else ""


def _shaped(vm: Machine, hint: ShapeHint, value: Value, name: str, annotation: ast.expr, node: ast.AST) -> Value:
    lib = _library(vm, hint)
    if isinstance(value, Opaque):
        value = Tensor(lib, Call(vm, "annotation", lib).shape(value), hint.dtype)
    if not isinstance(value, Tensor):
        return value
    if not check_shape(vm, hint, value, name, annotation, node):
        # The mistake is told; what follows from it would only repeat it.
        return Tensor(value.lib, vm.facts.unknown_shape(), hint.dtype, met=objects_of(value))
    declared = declared_shape(vm, hint, value, annotation)
    return value if declared is None else Tensor(value.lib, declared, value.dtype, met=objects_of(value))


def _library(vm: Machine, hint: ShapeHint) -> str:
    name = hint.array or ""
    known = LIBRARY_OF_CLASS.get(name) or LIBRARY_OF_CLASS.get(qualified_name(vm, name) if name else "")
    if known is not None:
        return known
    return "numpy" if name.endswith("ndarray") else "torch" if name.endswith("Tensor") else "array"


__all__ = ["annotate", "hint_of", "qualified_name", "refine_parameter", "refine_return"]
