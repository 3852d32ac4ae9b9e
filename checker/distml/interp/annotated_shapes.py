"""A shape beside the shape its annotation states: sizes are bound, learned or contradicted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.findings import fail, report
from distml.interp.lessons import at_node
from distml.interp.names import lookup_name
from distml.ops import Call, ShapeError
from distml.shapes import Dim, Shape
from distml.source.annotations import (
    AnyAxes,
    Axis,
    BadAxis,
    ExpressionAxis,
    NameAxis,
    ShapeHint,
    SizeAxis,
    ValueAxis,
    evaluate,
)
from distml.values import Tensor

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def check_shape(vm: Machine, hint: ShapeHint, value: Tensor, name: str, annotation: ast.expr, node: ast.AST) -> bool:
    """Require a tensor to have the annotated shape and learn what is not known of it; whether it can have it."""
    bad = next((axis for axis in hint.axes if isinstance(axis, BadAxis)), None)
    if bad is not None:
        message = f"{bad.text} in the annotation of {name} is not a size: sizes are whole numbers of at least 0"
        report(vm, ShapeError("SHP603", message), annotation, vm.frame)
        return True
    shape = vm.facts.shape(value.shape)
    variadic = [i for i, axis in enumerate(hint.axes) if _is_variadic(axis)]
    if variadic:
        place = variadic[0]
        pairs = _ends(vm, hint, shape, place)
    else:
        known = vm.facts.of_rank(
            shape, len(hint.axes), tuple(_label(axis) for axis in hint.axes), at_node(vm, annotation)
        )
        pairs = None if known is None or known.dims is None else list(zip(hint.axes, known.dims, strict=True))
    if pairs is None:
        _contradict(vm, hint, value, name, annotation, node, f"with {_rank_text(hint)}")
        return False
    for axis, dim in pairs:
        wanted = _bind(vm, axis, dim, annotation)
        if wanted is not None:
            _contradict(vm, hint, value, name, annotation, node, f"{wanted} meets {vm.facts.dim(dim)}", dim)
            return False
    return not variadic or _bind_variadic(vm, hint, value, name, annotation, node, variadic[0])


def declared_shape(vm: Machine, hint: ShapeHint, value: Tensor, annotation: ast.expr) -> Shape | None:
    """The shape of a dynamic tensor as far as its annotation declares it; None for any other tensor.

    Nothing can be learned of what is dynamic, but what is declared is the least precise it may be.
    """
    shape = vm.facts.shape(value.shape)
    is_dynamic = shape.middle is not None and shape.middle.dynamic
    if any(_is_variadic(axis) for axis in hint.axes) or not (is_dynamic or any(d.is_dynamic for d in shape.head)):
        return None
    known = vm.facts.of_rank(shape, len(hint.axes))
    if known is None:
        return None
    sizes = (
        Dim.of(axis.size, at_node(vm, annotation)) if isinstance(axis, SizeAxis) and dim.is_dynamic else dim
        for axis, dim in zip(hint.axes, known.head, strict=True)
    )
    return Shape(tuple(sizes))


def _is_variadic(axis: Axis) -> bool:
    return isinstance(axis, AnyAxes) or (isinstance(axis, NameAxis) and axis.variadic)


def _label(axis: Axis) -> str:
    return axis.name if isinstance(axis, NameAxis) else "size"


def _rank_text(hint: ShapeHint) -> str:
    fixed = sum(1 for axis in hint.axes if not _is_variadic(axis))
    at_least = "at least " if fixed < len(hint.axes) else ""
    return f"{at_least}{fixed} {'axis' if fixed == 1 else 'axes'}"


def _ends(vm: Machine, hint: ShapeHint, shape: Shape, place: int) -> list[tuple[Axis, Dim]] | None:
    """The axes before and after the variadic one, with their dimensions; None if there are too few."""
    front, back = hint.axes[:place], hint.axes[place + 1 :]
    if shape.rank is not None and shape.rank < len(front) + len(back):
        return None
    pairs: list[tuple[Axis, Dim]] = []
    for index, axis in enumerate(front):
        dim = vm.facts.axis(shape, index, _label(axis))
        if dim is None:
            return None
        pairs.append((axis, dim))
    for offset, axis in enumerate(reversed(back), 1):
        dim = vm.facts.axis(vm.facts.shape(shape), -offset, _label(axis))
        if dim is None:
            return None
        pairs.append((axis, dim))
    return pairs


def _bind(vm: Machine, axis: Axis, dim: Dim, annotation: ast.expr) -> Dim | None:
    """Learn one size; what it should have been when it cannot be that."""
    sizes = vm.frame.sizes
    wanted: Dim | None = None
    if isinstance(axis, SizeAxis):
        wanted = Dim.of(axis.size).at(at_node(vm, annotation))
    elif isinstance(axis, NameAxis):
        wanted = sizes.get(axis.name)
        if wanted is None:
            # A 1 that may broadcast says nothing of the size the name has elsewhere.
            if not axis.broadcastable:
                sizes[axis.name] = dim
            return None
    elif isinstance(axis, ExpressionAxis):
        found = evaluate(axis.expression, sizes)
        wanted = None if found is None else Dim.of(found)
    elif isinstance(axis, ValueAxis):
        wanted = _value_axis(vm, axis)
    if wanted is None:
        return None
    if getattr(axis, "broadcastable", False):
        here = vm.facts.dim(dim)
        return wanted if here.differs(1) and here.differs(vm.facts.dim(wanted)) else None
    return None if vm.facts.equate(dim, wanted) else vm.facts.dim(wanted)


def _value_axis(vm: Machine, axis: ValueAxis) -> Dim | None:
    if not axis.text.isidentifier():
        return None
    return Call(vm, "annotation", "builtins").dim(lookup_name(vm, axis.text, vm.node))


def _bind_variadic(
    vm: Machine,
    hint: ShapeHint,
    value: Tensor,
    name: str,
    annotation: ast.expr,
    node: ast.AST,
    place: int,
) -> bool:
    axis = hint.axes[place]
    shape = vm.facts.shape(value.shape)
    if not isinstance(axis, NameAxis) or shape.dims is None or axis.broadcastable:
        return True
    middle = shape.dims[place : len(shape.dims) - (len(hint.axes) - place - 1)]
    known = vm.frame.size_groups.setdefault(axis.name, middle)
    if len(known) == len(middle) and all(vm.facts.equate(a, b) for a, b in zip(known, middle, strict=True)):
        return True
    text = f"*{axis.name} is {Shape(known)!r} elsewhere and {Shape(middle)!r} here"
    _contradict(vm, hint, value, name, annotation, node, text)
    return False


def _contradict(
    vm: Machine,
    hint: ShapeHint,
    value: Tensor,
    name: str,
    annotation: ast.expr,
    node: ast.AST,
    why: str,
    *dims: Dim,
) -> None:
    call = Call(vm, "annotation", "array")
    message = f"{name} is annotated as {hint.text} ({why}) and gets {call.show(value)}"
    notes = call.notes(*(dims or vm.facts.shape(value.shape).head[:2]))
    where = vm.frame
    if vm.frame.caller is node and len(vm.stack) > 1:
        where = vm.stack[-2]
    saved, vm.frame = vm.frame, where
    try:
        fail(vm, ShapeError("SHP601", message, notes), node)
    finally:
        vm.frame = saved
