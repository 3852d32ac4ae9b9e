"""What the annotation that a parameter already has allows.

One that says less is replaced, one that says as much stays, and one that says something else is its author's.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from distml.rewrites.functions import Parameter
from distml.rewrites.model import Annotation
from distml.rewrites.refused import Refused
from distml.source.annotations import (
    AnyAxes,
    AnyAxis,
    AnyHint,
    Axis,
    ExpressionAxis,
    Hint,
    NameAxis,
    OptionalHint,
    ShapeHint,
    SizeAxis,
    TypeHint,
    UnionHint,
    parse_annotation,
)

_ANY = ("Any", "object", "Dyn")
_TENSORS: dict[str, str | None] = {
    **dict.fromkeys(("Tensor", "TensorType"), None),
    **dict.fromkeys(("FloatTensor", "HalfTensor", "DoubleTensor", "BFloat16Tensor"), "float"),
    **dict.fromkeys(("LongTensor", "IntTensor", "ShortTensor", "ByteTensor", "CharTensor"), "int"),
    "BoolTensor": "bool",
}


class Room(NamedTuple):
    """A place for an annotation: whether it has to allow None, and the head and array type to keep, as written."""

    optional: bool
    head: str | None = None
    array: str | None = None


def may_be_none(parameter: Parameter) -> bool:
    """Whether a parameter takes None, by its default or its annotation."""
    if parameter.optional:
        return True
    node = parameter.node.annotation
    if node is None:
        return False
    return isinstance(parse_annotation(node), OptionalHint) or _is_any(node) == "optional"


def stated(parameter: Parameter) -> Annotation:
    """The names that the annotation of a parameter binds, each as an axis of its own."""
    hint = parse_annotation(parameter.node.annotation) if parameter.node.annotation else AnyHint()
    hint = hint.inner if isinstance(hint, OptionalHint) else hint
    if not isinstance(hint, ShapeHint):
        return Annotation(None)
    return Annotation(tuple(a.name for a in hint.axes if isinstance(a, NameAxis) and not a.variadic))


def room_for(parameter: Parameter, annotation: Annotation) -> Room | None:
    """Where `annotation` may go; None where nothing is gained by it. Raises `Refused`."""
    if isinstance(parameter.default, ast.Constant) and parameter.default.value is not None:
        raise Refused("default", f"its default `{ast.unparse(parameter.default)}` is not a tensor")
    optional = may_be_none(parameter)
    node = parameter.node.annotation
    if node is None or _is_any(node):
        return Room(optional)
    hint = parse_annotation(node)
    hint = hint.inner if isinstance(hint, OptionalHint) else hint
    if isinstance(hint, ShapeHint):
        return _beside_shape(node, hint, annotation, optional)
    kind = _tensor(node, hint)
    if kind is not None and annotation.dtype not in (None, kind):
        raise Refused("contradiction", f"`{ast.unparse(node)}` says {kind}, not {annotation.dtype}")
    gained = annotation.dims is not None or (annotation.dtype is not None and kind is None)
    return Room(optional) if gained else None


def _is_any(node: ast.expr) -> str:
    """Whether an annotation says nothing: "any", or "optional" where it is so beside None; empty where it does."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value.strip(), mode="eval").body
        except SyntaxError:
            return ""
    text = ast.unparse(node)
    if text.rpartition(".")[2] in _ANY:
        return "any"
    inner = text.removeprefix("typing.").removeprefix("Optional[").removesuffix("]").removesuffix(" | None")
    return "optional" if inner != text and inner.rpartition(".")[2] in _ANY else ""


def _tensor(node: ast.expr, hint: Hint) -> str | None:
    """The kind of elements of a tensor class, None where it is not stated. Raises `Refused` for anything else."""
    text = ast.unparse(node)
    if isinstance(hint, AnyHint):
        raise Refused("unknown", f"its annotation `{text}` cannot be parsed")
    name = hint.name.rpartition(".")[2] if isinstance(hint, TypeHint) and not hint.arguments else ""
    if name not in _TENSORS:
        what = "several types" if isinstance(hint, UnionHint) else "something that is no torch tensor"
        raise Refused("type", f"its annotation `{text}` says {what}")
    return _TENSORS[name]


def _beside_shape(node: ast.expr, hint: ShapeHint, annotation: Annotation, optional: bool) -> Room | None:
    text = ast.unparse(node)
    if hint.dtype and annotation.dtype and hint.dtype != annotation.dtype:
        raise Refused("contradiction", f"`{text}` says {hint.dtype}, not {annotation.dtype}")
    gained = hint.dtype is None and annotation.dtype is not None and hint.head != "TensorType"
    if annotation.dims is not None and hint.axes != (AnyAxes(),):
        axes = _expanded(text, hint.axes, len(annotation.dims))
        gained = _gained(text, axes, annotation.dims) or AnyAxes() in hint.axes or gained
    else:
        gained = annotation.dims is not None or gained
    if not gained:
        return None
    jaxtyping = hint.array is not None and not hint.head.endswith("TensorType")
    keep = jaxtyping and (hint.dtype is not None or annotation.dtype is None)
    return Room(optional, hint.head if keep else None, hint.array if jaxtyping else None)


def _expanded(text: str, axes: tuple[Axis, ...], rank: int) -> tuple[Axis, ...]:
    """The axes with as many unknown ones for `...` as `rank` needs. Raises `Refused` for a name of several axes."""
    if any(isinstance(axis, NameAxis) and axis.variadic for axis in axes):
        raise Refused("kept", f"`{text}` has a name that stands for any number of axes")
    if AnyAxes() not in axes or len(axes) - 1 > rank:
        return axes
    at = axes.index(AnyAxes())
    return (*axes[:at], *(AnyAxis() for _ in range(rank - len(axes) + 1)), *axes[at + 1 :])


def _gained(text: str, axes: tuple[Axis, ...], dims: tuple[str | int | None, ...]) -> bool:
    """Whether `dims` say more than `axes` and nothing else. Raises `Refused` where they contradict or say less."""
    if len(axes) != len(dims):
        raise Refused("contradiction", f"`{text}` has {len(axes)} axes, not {len(dims)}")
    compared = [_compare(axis, dim) for axis, dim in zip(axes, dims, strict=True)]
    for number, difference in enumerate(compared):
        if difference is None:
            raise Refused("contradiction", f"axis {number} of `{text}` cannot be {dims[number]}")
    more, less = (1 in compared), (-1 in compared)
    if more and less:
        number = compared.index(-1)
        raise Refused("kept", f"axis {number} of `{text}` is more specific than what was inferred")
    return more


def _compare(axis: Axis, dim: str | int | None) -> int | None:
    """1 where `dim` says more than `axis`, -1 where it says less, 0 where neither; None where both cannot be."""
    if isinstance(axis, SizeAxis) and isinstance(dim, int):
        return 0 if axis.size == dim else None
    said = 2 if isinstance(axis, SizeAxis) else 1 if isinstance(axis, NameAxis | ExpressionAxis) else 0
    if not isinstance(axis, SizeAxis | NameAxis | ExpressionAxis | AnyAxis):
        return 0 if dim is None else -1
    found = 0 if dim is None else 2 if isinstance(dim, int) else 1
    return (found > said) - (found < said)
