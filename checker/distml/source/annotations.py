"""Annotations as written: what `x: Float[Tensor, "b c"]` says, without resolving a name.

Pure functions on syntax trees. Whatever is not understood says nothing (`AnyHint`).
Understood are classes, unions, tuples and literals, and shapes in the notations of
torch.fx (`TensorType([Dyn, 3])`), jaxtyping (`Float[Tensor, "b 3"]`), torchtyping
(`TensorType["b", 3]`), Pytropos (`NdArray[2, int]`) and NumPy
(`np.ndarray[tuple[int, Literal[3]], np.dtype[np.float32]]`).
"""

from __future__ import annotations

import ast

from distml.source.annotations_jaxtyping import DTYPES, AxisError, parse_axes
from distml.source.annotations_model import (
    AnyAxes,
    AnyAxis,
    AnyHint,
    Axis,
    BadAxis,
    Expression,
    ExpressionAxis,
    Hint,
    LiteralHint,
    NameAxis,
    Operation,
    OptionalHint,
    ShapeHint,
    SizeAxis,
    TupleHint,
    TypeHint,
    UnionHint,
    ValueAxis,
    evaluate,
)

__all__ = [
    "AnyAxes",
    "AnyAxis",
    "AnyHint",
    "Axis",
    "BadAxis",
    "Expression",
    "ExpressionAxis",
    "Hint",
    "LiteralHint",
    "NameAxis",
    "Operation",
    "OptionalHint",
    "ShapeHint",
    "SizeAxis",
    "TupleHint",
    "TypeHint",
    "UnionHint",
    "ValueAxis",
    "evaluate",
    "parse_annotation",
]

MAX_DEPTH = 16
"""Annotations nested deeper than this are not understood."""

MAX_TEXT = 2000
"""String annotations longer than this are not understood."""

NONE = TypeHint("None")

_TRANSPARENT = frozenset({"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Unpack"})
_NUMBERS = frozenset({"float", "int", "bool", "complex"})
_NO_SIZES = frozenset({"float", "complex", "str", "bytes"})


def parse_annotation(node: ast.expr) -> Hint:
    """What an annotation says; a string is read as the annotation it spells."""
    try:
        return _hint(node, 0)
    except RecursionError:
        return AnyHint()


def _hint(node: ast.expr, depth: int) -> Hint:
    if depth > MAX_DEPTH:
        return AnyHint()
    if isinstance(node, ast.Constant):
        return _constant(node.value, depth)
    if isinstance(node, ast.Name | ast.Attribute):
        return _named(dotted(node))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_hint(side, depth + 1) for side in (node.left, node.right)])
    if isinstance(node, ast.Subscript):
        return _subscript(node, depth)
    if isinstance(node, ast.Call) and last_name(node.func) == "TensorType" and len(node.args) == 1:
        return _tensor_type(dotted(node.func) or "TensorType", node.args[0])
    return AnyHint()


def dotted(node: ast.expr) -> str | None:
    """The dotted name an expression is; None when it is something else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def last_name(node: ast.expr) -> str | None:
    """The last part of a dotted name."""
    name = dotted(node)
    return None if name is None else name.rpartition(".")[2]


def _constant(value: object, depth: int) -> Hint:
    if value is None:
        return NONE
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        return AnyHint()
    try:
        # In parentheses: a string annotation may span lines.
        tree = ast.parse(f"({value.strip()}\n)", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return AnyHint()
    return _hint(tree.body, depth + 1)


def _named(name: str | None) -> Hint:
    if name is None or name.rpartition(".")[2] in ("Any", "object", "Dyn", "Optional", "Union"):
        return AnyHint()
    return TypeHint(name)


def _union(hints: list[Hint]) -> Hint:
    """One of several; None among them makes the rest optional, what says nothing makes all say nothing."""
    flat: dict[Hint, None] = {}
    optional = False
    for hint in hints:
        if isinstance(hint, OptionalHint):
            optional, hint = True, hint.inner
        for option in hint.options if isinstance(hint, UnionHint) else (hint,):
            if option == NONE:
                optional = True
            else:
                flat.setdefault(option)
    if AnyHint() in flat:
        return AnyHint()
    if not flat:
        return NONE
    inner = next(iter(flat)) if len(flat) == 1 else UnionHint(tuple(flat))
    return OptionalHint(inner) if optional else inner


def _elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _subscript(node: ast.Subscript, depth: int) -> Hint:
    head = dotted(node.value)
    if head is None or head in _NUMBERS | _NO_SIZES:
        return (
            AnyHint()
        )  # of Python's own numbers and strings there are no kinds: `int["batch length"]` means something else
    last, parts = head.rpartition(".")[2], _elements(node.slice)
    if last in _TRANSPARENT:
        return _hint(parts[0], depth + 1) if parts else AnyHint()
    if last == "Optional":
        return _union([_hint(node.slice, depth + 1), NONE])
    if last == "Union":
        return _union([_hint(part, depth + 1) for part in parts])
    if last == "Literal":
        return _literal(parts)
    if last in ("tuple", "Tuple"):
        return _tuple(parts, depth)
    return _shaped(head, last, node.slice, depth) or _generic(head, parts, depth)


def _generic(head: str, parts: list[ast.expr], depth: int) -> Hint:
    if head.rpartition(".")[2] in ("Callable", "Generic", "Protocol"):
        return TypeHint(head)
    return TypeHint(head, tuple(_hint(part, depth + 1) for part in parts))


def _literal(parts: list[ast.expr]) -> Hint:
    values = []
    for part in parts:
        value = _signed(part)
        if value is None and not (isinstance(part, ast.Constant) and part.value is None):
            return AnyHint()
        values.append(value)
    return LiteralHint(tuple(values))


def _signed(node: ast.expr) -> int | str | bytes | bool | None:
    """An integer with its sign, a string, a truth value; None otherwise."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _signed(node.operand)
        return -inner if type(inner) is int else None
    if isinstance(node, ast.Constant) and isinstance(node.value, int | str | bytes):
        return node.value
    return None


def _tuple(parts: list[ast.expr], depth: int) -> Hint:
    if any(isinstance(part, ast.Starred) for part in parts):
        return TypeHint("tuple")
    if len(parts) == 2 and _is_ellipsis(parts[1]):
        return TupleHint((_hint(parts[0], depth + 1),), variadic=True)
    return TupleHint(tuple(_hint(part, depth + 1) for part in parts))


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _shaped(head: str, last: str, index: ast.expr, depth: int) -> Hint | None:
    """The shape an annotation `head[index]` states; None when it states none."""
    if last in DTYPES and isinstance(index, ast.Tuple) and len(index.elts) == 2:
        return _jaxtyping(head, last, index.elts[0], index.elts[1], depth)
    if last == "TensorType":
        return _tensor_type(head, index, bare=True)
    if last == "NdArray":
        return ShapeHint(head, tuple(_python_axis(part) for part in _elements(index)), "numpy.ndarray")
    if last == "NDArray":
        return ShapeHint(head, (AnyAxes(),), "numpy.ndarray", dtype_of(index))
    if last == "ndarray":
        return _numpy(head, _elements(index))
    return None


def _jaxtyping(head: str, last: str, array: ast.expr, axes: ast.expr, depth: int) -> Hint | None:
    """`Float[Tensor, "b c"]`."""
    name = dotted(array)
    if isinstance(array, ast.Constant) and isinstance(array.value, str):
        inner = _constant(array.value, depth + 1)
        name = inner.name if isinstance(inner, TypeHint) else None
    if name in _NUMBERS:
        return TypeHint(str(name))
    if isinstance(array, ast.Subscript) and last_name(array.value) in DTYPES:
        # An extended annotation: the axes in front of those of the inner one.
        return AnyHint()
    array_name = None if name is None or name.rpartition(".")[2] in ("Any", "ArrayLike") else name
    if isinstance(axes, ast.JoinedStr):
        return ShapeHint(head, (AnyAxes(),), array_name, DTYPES[last])
    if not isinstance(axes, ast.Constant) or not isinstance(axes.value, str):
        return None
    if len(axes.value) > MAX_TEXT:
        return AnyHint()
    try:
        return ShapeHint(head, parse_axes(axes.value), array_name, DTYPES[last])
    except AxisError:
        return AnyHint()


def _tensor_type(head: str, sizes: ast.expr, *, bare: bool = False) -> ShapeHint:
    """torch.fx's `TensorType([Dyn, 3])`, `TensorType((1, Dyn))`; torchtyping's `TensorType["b", 3, torch.float]`."""
    if isinstance(sizes, ast.List | ast.Tuple):
        parts = list(sizes.elts)
    elif bare:
        parts = [sizes]
    else:
        return ShapeHint(head, (AnyAxes(),), "torch.Tensor")
    dtype: str | None = None
    axes: list[Axis] = []
    for part in parts:
        if bare and isinstance(part, ast.Name | ast.Attribute) and last_name(part) != "Dyn":
            # torchtyping's dtype and flags stand behind the sizes.
            dtype = dtype or dtype_of(part)
        else:
            axes.append(_tensor_type_axis(part))
    variadic = [axis for axis in axes if isinstance(axis, AnyAxes) or (isinstance(axis, NameAxis) and axis.variadic)]
    return ShapeHint(head, tuple(axes) if len(variadic) < 2 else (AnyAxes(),), "torch.Tensor", dtype)


def _tensor_type_axis(node: ast.expr) -> Axis:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return NameAxis(node.value) if node.value.isidentifier() else AnyAxis()
    if isinstance(node, ast.Slice):
        # `"b": 3` and `"b": ...`
        name = node.lower.value if isinstance(node.lower, ast.Constant) else None
        if node.upper is not None and _is_ellipsis(node.upper):
            return NameAxis(name, variadic=True) if isinstance(name, str) else AnyAxes()
        return AnyAxis() if node.upper is None else _tensor_type_axis(node.upper)
    if last_name(node) == "Dyn" or _signed(node) == -1:
        return AnyAxis()
    return _python_axis(node)


def _python_axis(node: ast.expr) -> Axis:
    """An axis written as a Python value; `int` is any size."""
    if _is_ellipsis(node):
        return AnyAxes()
    value = _signed(node)
    if type(value) is int:
        return SizeAxis(value) if value >= 0 else BadAxis(ast.unparse(node))
    if isinstance(_unsigned(node), float | complex):
        return BadAxis(ast.unparse(node))
    if isinstance(node, ast.Constant):
        return AnyAxis()
    name = dotted(node)
    if name == "int" or (name is not None and name.rpartition(".")[2] == "Any"):
        return AnyAxis()
    if name in _NO_SIZES:
        return BadAxis(name)
    return ValueAxis(ast.unparse(node))


def _unsigned(node: ast.expr) -> object:
    """The constant behind any signs; None when there is none."""
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return node.value if isinstance(node, ast.Constant) else None


def _numpy(head: str, parts: list[ast.expr]) -> ShapeHint:
    """`np.ndarray[tuple[int, Literal[3]], np.dtype[np.float32]]`."""
    shape = parts[0] if parts else None
    dtype = dtype_of(parts[1]) if len(parts) > 1 else None
    return ShapeHint(head, _numpy_axes(shape), head, dtype)


def _numpy_axes(shape: ast.expr | None) -> tuple[Axis, ...]:
    if not isinstance(shape, ast.Subscript) or last_name(shape.value) not in ("tuple", "Tuple"):
        return (AnyAxes(),)
    parts = _elements(shape.slice)
    if any(isinstance(part, ast.Starred) for part in parts) or (len(parts) == 2 and _is_ellipsis(parts[1])):
        return (AnyAxes(),)
    return tuple(_numpy_axis(part) for part in parts)


def _numpy_axis(node: ast.expr) -> Axis:
    if isinstance(node, ast.Subscript) and last_name(node.value) == "Literal":
        value = _signed(node.slice)
        if type(value) is int:
            return SizeAxis(value) if value >= 0 else BadAxis(str(value))
    return AnyAxis()


def dtype_of(node: ast.expr) -> str | None:
    """The kind of number a dtype annotation names: `np.dtype[np.float32]`, `torch.int64`, `float`."""
    if isinstance(node, ast.Subscript) and last_name(node.value) == "dtype":
        return dtype_of(node.slice)
    name = last_name(node)
    if name is None:
        return None
    for kind, starts in _KINDS.items():
        if name.startswith(starts):
            return kind
    return None


_KINDS: dict[str, tuple[str, ...]] = {
    "float": ("float", "bfloat", "half", "double", "single", "longdouble"),
    "int": ("int", "uint", "long", "short", "byte", "ubyte", "ushort", "ulong", "signedinteger", "unsignedinteger"),
    "bool": ("bool",),
    "complex": ("complex", "cfloat", "cdouble", "csingle", "clongdouble"),
}
