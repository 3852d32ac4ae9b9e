"""The axis strings of jaxtyping: `"*batch c h//2 #w 3 _ ..."` (https://docs.kidger.site/jaxtyping/api/array/)."""

from __future__ import annotations

import ast

from distml.source.annotations_model import (
    OPERATORS,
    AnyAxes,
    AnyAxis,
    Axis,
    BadAxis,
    Expression,
    ExpressionAxis,
    NameAxis,
    Operation,
    SizeAxis,
)

_FLOATS = (
    "Float Float64 Float32 Float16 BFloat16 Float8e4m3b11fnuz Float8e4m3fn Float8e4m3fnuz Float8e5m2 Float8e5m2fnuz"
)
_FLOATS += " Float4e2m1fn Float8e3m4 Float8e4m3 Float8e8m0fnu"
_INTEGERS = "Int Int2 Int4 Int8 Int16 Int32 Int64 UInt UInt2 UInt4 UInt8 UInt16 UInt32 UInt64 Integer"
DTYPES: dict[str, str | None] = {
    **dict.fromkeys(_FLOATS.split(), "float"),
    **dict.fromkeys(_INTEGERS.split(), "int"),
    **dict.fromkeys(("Complex", "Complex64", "Complex128"), "complex"),
    "Bool": "bool",
    **dict.fromkeys(("Shaped", "Num", "Inexact", "Real", "Key"), None),
}
"""jaxtyping's dtype names -> the kind of number, None where it may be several."""

MAX_LENGTH = 200
"""Axes written longer than this are not understood."""


class AxisError(ValueError):
    """jaxtyping raises on this string."""


def parse_axes(text: str) -> tuple[Axis, ...]:
    """The axes of a jaxtyping string; "" is a scalar's. Raises `AxisError` where jaxtyping raises."""
    axes = tuple(_axis(word) for word in text.split())
    if sum(isinstance(axis, AnyAxes) or (isinstance(axis, NameAxis) and axis.variadic) for axis in axes) > 1:
        raise AxisError("more than one group of axes of unknown number")
    return axes


def _axis(word: str) -> Axis:
    if "," in word and "(" not in word:
        raise AxisError("axes are separated by spaces")
    if word.endswith("#"):
        raise AxisError("# stands in front")
    if "..." in word:
        if word != "...":
            raise AxisError("... stands alone")
        return AnyAxes()
    marks, name = _marks(word)
    if name == "" or name.isidentifier():
        return _named(marks, name)
    if marks & {"*", "_"} or "?" in marks:
        raise AxisError("only a name can be anonymous or stand for several axes")
    return _sized(name, "#" in marks)


def _marks(word: str) -> tuple[set[str], str]:
    """The modifiers in front of an axis, and what follows them; `name=4` is `4`."""
    marks: set[str] = set()
    while word:
        if word[0] in "#*_?":
            if word[0] in marks:
                raise AxisError(f"{word[0]} stands twice")
            marks.add(word[0])
            word = word[1:]
        elif word.count("=") == 1:
            word = word.split("=")[1]
        else:
            break
    return marks, word


def _named(marks: set[str], name: str) -> Axis:
    variadic, broadcastable = "*" in marks, "#" in marks
    if "_" in marks:
        if broadcastable:
            raise AxisError("an anonymous axis cannot broadcast")
        return AnyAxes() if variadic else AnyAxis()
    if "?" in marks or not name:
        # A size that depends on the place in a PyTree: another one each time.
        return AnyAxes() if variadic else AnyAxis()
    return NameAxis(name, broadcastable, variadic)


def _sized(text: str, broadcastable: bool) -> Axis:
    if len(text) > MAX_LENGTH:
        return AnyAxis()
    try:
        size = int(text)
    except ValueError:
        expression = parse_expression(text)
        return AnyAxis() if expression is None else ExpressionAxis(expression, broadcastable)
    return SizeAxis(size, broadcastable) if size >= 0 else BadAxis(text)


def parse_expression(text: str) -> Expression | None:
    """A symbolic size; None where it calls functions, reads attributes or holds `{...}`."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _expression(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}


def _expression(node: ast.expr) -> Expression | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _expression(node.operand)
        return -inner if isinstance(inner, int) else None if inner is None else Operation("-", 0, inner)
    if isinstance(node, ast.BinOp) and type(node.op) in _SYMBOLS:
        left, right = _expression(node.left), _expression(node.right)
        symbol = _SYMBOLS[type(node.op)]
        known = left is not None and right is not None and symbol in OPERATORS
        return Operation(symbol, left, right) if known and left is not None and right is not None else None
    return None
