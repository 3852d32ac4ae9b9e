"""Constraints as users write them: `x.shape[0] > 5 and len(y.shape) == 4`.

The text is parsed by Python's own parser and never evaluated. Allowed are
comparisons of sums, products, `//` and `%` over integers and sizes of inputs,
`x.shape == (5, 3)`, and `and`, `or`, `not`. Anything else is a `WhereError`.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import prod

from distml.shapes import Dim, Symbol
from distml.solver.formula import (
    FALSE,
    TRUE,
    Formula,
    at_least,
    both,
    different,
    either,
    equal,
    less,
    negate,
)

Dims = Callable[[str, int], Dim]
"""The size of an input along an axis, which may be negative where the rank is unknown; LookupError if there is none."""

Rank = Callable[[str], int | None]
"""The rank of an input, None if unknown; LookupError if there is no such input."""

LONGEST = 4000
DEEPEST = 40
LARGEST = 2**63 - 1
LARGEST_SUM = 64

_COMPARISONS: dict[type[ast.cmpop], Callable[[Dim, Dim], Formula]] = {
    ast.Eq: equal,
    ast.NotEq: different,
    ast.Gt: lambda a, b: less(b, a),
    ast.GtE: at_least,
    ast.Lt: less,
    ast.LtE: lambda a, b: at_least(b, a),
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Dim, Dim], Dim]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class WhereError(ValueError):
    """A constraint that cannot be read; one line for the user, `column` counts from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"column {column}: {message}")
        self.column = column


def parse_where(text: str, dims: Dims, rank: Rank) -> Formula:
    """The formula that the text says of the inputs; raises `WhereError`.

    A comparison that depends on an unknown rank says nothing yet, nor does its negation; one about an
    axis that an input of its rank does not have never holds, nor does its negation.
    """
    reader = _Reader(dims, rank)
    return reader.formula(_parsed(text))


def check_where(text: str) -> None:
    """Raise `WhereError` if the constraint cannot be read, before anything is known of the inputs."""
    parse_where(text, lambda name, axis: Dim.symbol(Symbol(f"{name}{axis}", axis, 1)), lambda name: None)


def inputs_of(text: str) -> set[str]:
    """The names of the inputs that the text speaks of; raises `WhereError` where it cannot be parsed."""
    return {n.id for n in ast.walk(_parsed(text)) if isinstance(n, ast.Name) and n.id != "len"}


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise WhereError(f"longer than {LONGEST} characters", LONGEST + 1)
    if not text.strip():
        raise WhereError("nothing is said; write for example `x.shape[0] > 5`", 1)
    text = re.sub(r"[\r\n\t\f]", " ", text)
    shift = len(text) - len(text.lstrip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        column = error.offset + shift if error.offset else len(text.rstrip()) + 1
        raise WhereError(f"not an expression: {error.msg}", column) from None
    except (ValueError, RecursionError, MemoryError):
        raise WhereError("not an expression that can be parsed", 1) from None
    _refuse_deep(tree)
    for node in _located(tree):
        node.col_offset += shift
    return tree


def _located(tree: ast.AST) -> Iterator[ast.expr]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.expr))


def _refuse_deep(tree: ast.expr) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise _error("nested too deeply", next((n for n in level if isinstance(n, ast.expr)), tree))


def _error(message: str, node: ast.expr) -> WhereError:
    return WhereError(message, node.col_offset + 1)


class _OpenError(Exception):
    """A comparison depends on a rank that is not known: nothing is said yet."""


class _AbsentError(Exception):
    """A comparison is about an axis that an input of this rank has not: it does not hold."""


class _Reader:
    """Reads one expression."""

    def __init__(self, dims: Dims, rank: Rank) -> None:
        self.dims = dims
        self.rank = rank

    def formula(self, node: ast.expr, wanted: bool = True) -> Formula:
        """What the expression says, or where it is not `wanted`, what its negation does."""
        match node:
            case ast.BoolOp(op=op):
                parts = [self.formula(value, wanted) for value in node.values]
                return both(*parts) if isinstance(op, ast.And) == wanted else either(*parts)
            case ast.UnaryOp(op=ast.Not()):
                return self.formula(node.operand, not wanted)
            case ast.Constant(value=bool()):
                return TRUE if node.value == wanted else FALSE
            case ast.Compare():
                sides = pairwise([node.left, *node.comparators])
                links = [self._compare(a, op, b, wanted) for (a, b), op in zip(sides, node.ops)]
                return both(*links) if wanted else either(*links)
        raise _error("expected a comparison, such as `x.shape[0] > 5`", node)

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr, wanted: bool) -> Formula:
        """A comparison or its negation; while its rank is open either may hold, without its axis neither does."""
        try:
            said = self._decided(left, op, right)
        except _OpenError:
            return TRUE
        except _AbsentError:
            return FALSE
        return said if wanted else negate(said)

    def _decided(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Formula:
        apply = _COMPARISONS.get(type(op))
        if apply is None:
            raise _error("only ==, !=, <, <=, > and >= compare sizes", right)
        whole = [self._is_whole(side) for side in (left, right)]
        if not any(whole):
            return apply(self.number(left), self.number(right))
        if not all(whole):
            raise _error("a shape is compared with a shape or a tuple, such as `(5, 3)`", left if whole[1] else right)
        if not isinstance(op, ast.Eq | ast.NotEq):
            raise _error("shapes are compared with == and != only", right)
        same = self._same(left, right)
        return same if isinstance(op, ast.Eq) else negate(same)

    def _is_whole(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Tuple | ast.List):
            return True
        return _shape_of(node) is not None

    def _same(self, left: ast.expr, right: ast.expr) -> Formula:
        first, second = self._elements(left), self._elements(right)
        if first is None and second is None:
            raise _OpenError
        if first is None or second is None:
            known = first if first is not None else second
            unknown = left if first is None else right
            first, second = known, [self._axis(unknown, n) for n in range(len(known or ()))]
        if len(first or ()) != len(second):
            return FALSE
        return both(*(equal(a, b) for a, b in zip(first or (), second)))

    def _elements(self, node: ast.expr) -> list[Dim] | None:
        if isinstance(node, ast.Tuple | ast.List):
            return [self.number(e) for e in node.elts]
        rank = self._rank(node)
        return None if rank is None else [self._axis(node, n) for n in range(rank)]

    def number(self, node: ast.expr) -> Dim:
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return self._literal(node, value)
            case ast.UnaryOp(op=ast.USub()):
                return -self.number(node.operand)
            case ast.UnaryOp(op=ast.UAdd()):
                return self.number(node.operand)
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Subscript(value=whole) if _shape_of(whole) is not None:
                return self._axis(whole, self._index(node.slice))
            case ast.Call():
                return self._call(node)
            case ast.Attribute(attr="ndim", value=ast.Name()):
                return self._known_rank(node.value)
        if _shape_of(node) is not None:
            raise _error("a whole shape is no number; take one size of it, such as `.shape[0]`", node)
        hint = f"; a size is `{node.id}.shape[0]`" if isinstance(node, ast.Name) else ""
        raise _error(f"expected an integer or a size of an input{hint}", node)

    def _literal(self, node: ast.expr, value: int) -> Dim:
        if value > LARGEST:
            raise _error("the number is larger than any size", node)
        return Dim.of(value)

    def _arithmetic(self, node: ast.BinOp) -> Dim:
        if isinstance(node.op, ast.Div):
            raise _error("`/` gives no integer; write `//`", node)
        apply = _ARITHMETIC.get(type(node.op))
        if apply is None:
            raise _error("only + - * // and % are known", node)
        left, right = self.number(node.left), self.number(node.right)
        if right == 0 and isinstance(node.op, ast.FloorDiv | ast.Mod):
            raise _error("division by zero", node.right)
        result = apply(left, right)
        if len(result.terms) > LARGEST_SUM or any(abs(c) > LARGEST for _, c in result.terms):
            raise _error("the expression grows too large", node)
        return result

    def _call(self, node: ast.Call) -> Dim:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[whole], keywords=[]) if _shape_of(whole) is not None:
                return self._known_rank(whole)
            case ast.Call(
                func=ast.Attribute(attr="dim" | "ndimension", value=ast.Name() as name), args=[], keywords=[]
            ):
                return self._known_rank(name)
            case ast.Call(func=ast.Attribute(attr="size", value=ast.Name() as name), args=[index], keywords=[]):
                return self._axis(name, self._index(index))
            case ast.Call(func=ast.Attribute(attr="numel", value=ast.Name() as name), args=[], keywords=[]):
                rank = self._known_rank(name).constant or 0
                return prod((self._axis(name, n) for n in range(rank)), start=Dim.of(1))
        raise _error("only len(x.shape), x.size(0), x.dim() and x.numel() can be called", node)

    def _index(self, node: ast.expr) -> int:
        dim = self.number(node)
        if dim.constant is None or not -64 <= dim.constant < 64:
            raise _error("an axis is a small integer", node)
        return dim.constant

    def _rank(self, node: ast.expr) -> int | None:
        name = _shape_of(node) or node
        assert isinstance(name, ast.Name)
        try:
            return self.rank(name.id)
        except LookupError:
            raise _error(f"no input is called `{name.id}`", name) from None

    def _known_rank(self, node: ast.expr) -> Dim:
        rank = self._rank(node)
        if rank is None:
            raise _OpenError
        return Dim.of(rank)

    def _axis(self, node: ast.expr, axis: int) -> Dim:
        name = _shape_of(node) or node
        assert isinstance(name, ast.Name)
        rank = self._rank(node)
        if rank is not None and not -rank <= axis < rank:
            raise _AbsentError
        try:
            return self.dims(name.id, axis if rank is None or axis >= 0 else axis + rank)
        except LookupError:
            raise _AbsentError from None


def _shape_of(node: ast.expr) -> ast.Name | None:
    """The input of which this is the whole shape: `x.shape` or `x.size()`."""
    match node:
        case ast.Attribute(attr="shape", value=ast.Name() as name):
            return name
        case ast.Call(func=ast.Attribute(attr="size", value=ast.Name() as name), args=[], keywords=[]):
            return name
    return None
