"""What a user says of inputs: `--input "x: float[8, 3, h, w]"`, or any annotation of a shape that is read in programs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from distml.gradual.targets import TargetError
from distml.shapes import Dim, Middle, Shape, Symbol
from distml.source.annotations import (
    AnyAxes,
    BadAxis,
    ExpressionAxis,
    NameAxis,
    OptionalHint,
    ShapeHint,
    SizeAxis,
    ValueAxis,
    evaluate,
    parse_annotation,
)
from distml.source.annotations_jaxtyping import AxisError, parse_axes
from distml.source.annotations_model import Operation, axis_text
from distml.source.parsing import NestedError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from distml.interp.machine import Machine
    from distml.source.annotations import Axis, Expression

ELEMENTS = frozenset({"float", "int", "bool", "complex"})
"""Heads of the short form: what the elements are."""
MAX_TEXT = 2000
MAX_AXES = 64
MAX_SIZE = 2**63 - 1
HELP = 'write "x: float[8, 3, h, w]"'
_LIBRARY = {"ndarray": "numpy", "NDArray": "numpy", "NdArray": "numpy", "Array": "jax", "TensorType": "torch"}
"""Whose tensors an annotation speaks of, by the last part of a name in it."""


class Stated(NamedTuple):
    """An input as a user describes it. `lib` is None where it may be any library's."""

    name: str
    axes: tuple[Axis, ...]
    dtype: str | None
    lib: str | None


def stated_inputs(texts: Iterable[str]) -> tuple[Stated, ...]:
    """The inputs that users describe, each like parameters of a function. Raises `TargetError` where one is no such thing."""
    found = [each for text in texts for each in _of_text(text)]
    twice = [each.name for number, each in enumerate(found) if each.name in {other.name for other in found[:number]}]
    if twice:
        raise TargetError(f"--input: {twice[0]} is given twice")
    return tuple(found)


def _of_text(text: str) -> Iterator[Stated]:
    wrong = TargetError(f"--input: {text[:60]!r} is not an input with its shape: {HELP}")
    if len(text) > MAX_TEXT or "\n" in text:
        raise wrong
    try:
        tree = parse(f"def f({text}): 0")
    except (SyntaxError, ValueError, NestedError):
        raise wrong from None
    function = tree.body[0] if len(tree.body) == 1 else None
    if not isinstance(function, ast.FunctionDef) or not _is_plain(function):
        raise wrong
    for argument in function.args.args:
        if argument.annotation is None:
            raise wrong
        yield _stated(argument.arg, argument.annotation, wrong)


def _is_plain(function: ast.FunctionDef) -> bool:
    """Whether a function has nothing but some parameters, none with a default."""
    spec = function.args
    others = (spec.posonlyargs, spec.kwonlyargs, spec.defaults, spec.vararg, spec.kwarg, function.returns)
    return bool(spec.args) and not any(others) and len(function.body) == 1


def _stated(name: str, annotation: ast.expr, wrong: TargetError) -> Stated:
    hint = _short(annotation, wrong) or parse_annotation(annotation)
    if isinstance(hint, OptionalHint):
        hint = hint.inner
    if not isinstance(hint, ShapeHint):
        raise wrong
    if len(hint.axes) > MAX_AXES:
        raise TargetError(f"--input: {name} has more than {MAX_AXES} axes")
    for axis in hint.axes:
        too_large = isinstance(axis, SizeAxis) and axis.size > MAX_SIZE
        if isinstance(axis, BadAxis | ValueAxis) or too_large:
            raise TargetError(f"--input: {axis_text(axis)[:40]!r} is not a size of {name}")
    names = [part.rpartition(".")[2] for part in (hint.array or "", hint.head)]
    lib = next((_LIBRARY[part] for part in names if part in _LIBRARY), None)
    return Stated(name, hint.axes, hint.dtype, lib)


def _short(annotation: ast.expr, wrong: TargetError) -> ShapeHint | None:
    """`float[8, 3, h, w]`; None for another form."""
    if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.value, ast.Name):
        return None
    head = annotation.value.id
    if head not in ELEMENTS:
        return None
    index = annotation.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(part, ast.Constant) and type(part.value) not in (int, type(...)) for part in parts):
        raise wrong
    try:
        return ShapeHint(head, parse_axes(" ".join(ast.unparse(part).replace(" ", "") for part in parts)), None, head)
    except (AxisError, RecursionError, ValueError):
        raise wrong from None


def shapes_of(vm: Machine, inputs: Sequence[Stated], least: int) -> dict[str, Shape]:
    """The shapes of inputs; sizes of one name are one symbol, which is at least `least`."""
    sizes: dict[str, Dim] = {}
    groups: dict[str, Middle] = {}

    def size(name: str) -> Dim:
        return sizes.setdefault(name, Dim.symbol(Symbol(name, vm.serial(), least)))

    def dim(axis: Axis, label: str) -> Dim:
        if getattr(axis, "broadcastable", False):
            return Dim.symbol(Symbol(label, vm.serial(), least))
        if isinstance(axis, SizeAxis):
            return Dim.of(axis.size)
        if isinstance(axis, NameAxis):
            return size(axis.name)
        if isinstance(axis, ExpressionAxis):
            for name in _names(axis.expression):
                size(name)
            found = evaluate(axis.expression, sizes)
            if found is not None:
                return Dim.of(found)
        return Dim.symbol(Symbol(label, vm.serial(), least))

    def shape(each: Stated) -> Shape:
        dims = [None if _is_open(axis) else dim(axis, f"{each.name}{at}") for at, axis in enumerate(each.axes)]
        if None not in dims:
            return Shape(tuple(d for d in dims if d is not None))
        cut = dims.index(None)
        name = axis.name if isinstance(axis := each.axes[cut], NameAxis) else each.name
        middle = groups.setdefault(name, Middle(name, vm.serial()))
        head, tail = (tuple(d for d in part if d is not None) for part in (dims[:cut], dims[cut:]))
        return Shape(head, middle, tail, len(head) + len(tail))

    return {each.name: shape(each) for each in inputs}


def _is_open(axis: Axis) -> bool:
    return isinstance(axis, AnyAxes) or (isinstance(axis, NameAxis) and axis.variadic)


def _names(expression: Expression) -> Iterator[str]:
    if isinstance(expression, str):
        yield expression
    elif isinstance(expression, Operation):
        yield from _names(expression.left)
        yield from _names(expression.right)
