"""What a condition says of the values in it, on the branch where it holds or fails."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.machine import PathEnd
from distml.interp.names import assign_name
from distml.interp.truth import truth
from distml.interp.typetests import has_attribute, is_instance
from distml.ops import Call
from distml.ops.dialect import LIBRARY_OF_CLASS, TENSOR_CLASSES
from distml.shapes import Dim, Shape, Symbol
from distml.values import (
    NONE,
    Claimed,
    Const,
    Expr,
    Lib,
    Num,
    Opaque,
    Ref,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
    believed,
    union,
)

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def refine(vm: Machine, test: ast.expr, holds: bool) -> None:
    """Learn that `test` came out as `holds`; ends the path if that cannot be."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        refine(vm, test.operand, not holds)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is holds:
            for part in test.values:
                refine(vm, part, holds)
    elif isinstance(test, ast.Name | ast.Attribute):
        _refine_truth(vm, test, holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        _refine_comparison(vm, test, holds)
    elif isinstance(test, ast.Call):
        _refine_call(vm, test, holds)


def _peek(vm: Machine, node: ast.expr) -> Value | None:
    """The value of a place that can be read again without effects."""
    current: ast.expr = node
    while isinstance(current, ast.Attribute):
        current = current.value
    return vm.language.evaluate(vm, node) if isinstance(current, ast.Name) else None


def _rebind(vm: Machine, node: ast.expr, value: Value) -> None:
    if isinstance(node, ast.Name):
        assign_name(vm, node.id, value)
    elif isinstance(node, ast.Attribute):
        owner = vm.language.evaluate(vm, node.value)
        if isinstance(owner, Ref | Opaque):
            vm.language.set_attribute(vm, owner, node.attr, value, node)


def _keep(vm: Machine, node: ast.expr, value: Union, kept: list[Value]) -> None:
    if not kept:
        raise PathEnd
    if len(kept) < len(value.options):
        _rebind(vm, node, union(kept))


def _refine_truth(vm: Machine, node: ast.expr, holds: bool) -> None:
    value = _peek(vm, node)
    if isinstance(value, Opaque):
        vm.put(("truth", value), holds)
        if holds:
            vm.put(("notnone", value), True)
    elif isinstance(value, Union):
        _keep(vm, node, value, [o for o in value.options if truth(vm, o) is not (not holds)])


def _refine_comparison(vm: Machine, test: ast.Compare, holds: bool) -> None:
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(operator, ast.NotEq | ast.IsNot | ast.NotIn):
        holds = not holds
    if isinstance(operator, ast.Is | ast.IsNot):
        if isinstance(right, ast.Constant) and right.value is None:
            _refine_none(vm, left, holds)
        return
    if isinstance(operator, ast.Eq | ast.NotEq):
        if isinstance(right, ast.Constant) and right.value is None:
            _refine_none(vm, left, holds)
            return
        _refine_constant(vm, left, right, holds)
        if holds:
            _refine_equal(vm, left, right)
    elif isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        _refine_order(vm, operator, left, right, holds)


def _refine_none(vm: Machine, node: ast.expr, is_none: bool) -> None:
    value = _peek(vm, node)
    if isinstance(value, Union):
        _keep(vm, node, value, [o for o in value.options if _may_be_none(o) is not (not is_none)])
    elif isinstance(value, Opaque | Expr | Claimed):
        if is_none:
            _rebind(vm, node, NONE)
        else:
            vm.put(("notnone", value), True)


def _may_be_none(value: Value) -> bool | None:
    if isinstance(value, Opaque | Expr | Claimed):
        return None
    return value == NONE


def _refine_constant(vm: Machine, left: ast.expr, right: ast.expr, holds: bool) -> None:
    """`mode == "train"`: a union keeps what fits; an unknown value becomes the constant."""
    value, constant = _peek(vm, left), right
    if not isinstance(constant, ast.Constant) or value is None:
        return
    wanted = Const(constant.value)
    if isinstance(value, Union):
        fits = [o for o in value.options if (o == wanted) is holds or not isinstance(o, Const)]
        _keep(vm, left, value, fits)
    elif isinstance(value, Opaque) and holds and isinstance(constant.value, str | bool):
        _rebind(vm, left, wanted)


def _refine_equal(vm: Machine, left: ast.expr, right: ast.expr) -> None:
    """`x.shape[1] == 3`, `x.ndim == 4`, `x.shape == (3, 4)`."""
    for one, other in ((left, right), (right, left)):
        subject = _rank_subject(vm, one)
        if subject is not None:
            rank = _value(vm, other)
            if isinstance(rank, Const) and isinstance(rank.value, int):
                shape = Call(vm, "refine", "array").shape(subject)
                if vm.facts.of_rank(shape, rank.value) is None:
                    raise PathEnd
            return
    a, b = _value(vm, left), _value(vm, right)
    if a is None or b is None:
        return
    if isinstance(b, ShapeSeq):
        _equate_sizes(vm, b, a)
    elif isinstance(a, ShapeSeq):
        _equate_sizes(vm, a, b)
    elif isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
        for left_item, right_item in zip(a.items, b.items, strict=True):
            _equate(vm, left_item, right_item)
    else:
        _equate(vm, a, b)


def _equate_sizes(vm: Machine, sizes: ShapeSeq, other: Value) -> None:
    """Learn that the sizes of a tensor are another value."""
    if isinstance(other, ShapeSeq):
        _equate_ends(vm, vm.facts.shape(other.shape), vm.facts.shape(sizes.shape))
    elif isinstance(other, Tup):
        known = vm.facts.of_rank(sizes.shape, len(other.items))
        if known is None or known.dims is None:
            raise PathEnd
        for dim, item in zip(known.dims, other.items, strict=True):
            _equate(vm, Num(dim), item)


def _equate_ends(vm: Machine, left: Shape, right: Shape) -> None:
    """Equal shapes of unknown rank have equal first and equal last sizes."""
    ends = [*zip(left.head, right.head), *zip(reversed(left.tail), reversed(right.tail))]
    if not all(vm.facts.equate(a, b) for a, b in ends):
        raise PathEnd


def _equate(vm: Machine, left: Value, right: Value) -> None:
    """Learn that two integers are equal; a value that need not be an integer teaches nothing."""
    if not all(isinstance(v, Const | Num | Opaque) for v in (left, right)):
        return
    if not any(isinstance(v, Num) or (isinstance(v, Const) and type(v.value) is int) for v in (left, right)):
        return
    call = Call(vm, "refine", "array")
    a, b = call.dim(left), call.dim(right)
    if a is not None and b is not None and not vm.facts.equate(a, b):
        raise PathEnd


def _rank_subject(vm: Machine, node: ast.expr) -> Value | None:
    """For `x.ndim`, `x.dim()`, `len(x.shape)`, `len(x.size())`: x."""
    if isinstance(node, ast.Attribute) and node.attr == "ndim":
        return _peek(vm, node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("dim", "ndimension") and not node.args:
            return _array(_peek(vm, node.func.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        inner = node.args[0] if len(node.args) == 1 else None
        if isinstance(inner, ast.Attribute) and inner.attr == "shape":
            return _array(_peek(vm, inner.value))
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            if inner.func.attr == "size" and not inner.args:
                return _array(_peek(vm, inner.func.value))
    return None


def _array(value: Value | None) -> Value | None:
    return value if isinstance(value, Tensor | Opaque) else None


def _value(vm: Machine, node: ast.expr) -> Value | None:
    """The value of a condition's operand, when looking again has no effects."""
    for part in ast.walk(node):
        if isinstance(part, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await | ast.Lambda):
            return None
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else None
            if name not in ("size", "dim", "numel"):
                return None
    return vm.language.evaluate(vm, node)


_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_MIRROR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def _refine_order(vm: Machine, operator: ast.cmpop, left: ast.expr, right: ast.expr, holds: bool) -> None:
    """`n > 0` raises the lower bound of n."""
    kind = type(operator) if holds else _FLIPPED[type(operator)]
    value, bound = _value(vm, left), _value(vm, right)
    if isinstance(value, Const):
        value, bound, kind = bound, value, _MIRROR[kind]
    if not isinstance(value, Num) or not isinstance(bound, Const) or type(bound.value) is not int:
        return
    if kind not in (ast.Gt, ast.GtE):
        return
    least = bound.value + (1 if kind is ast.Gt else 0)
    dim = vm.facts.dim(value.dim)
    symbol = dim.lone
    if symbol is not None and (symbol.low is None or symbol.low < least):
        raised = Symbol(symbol.name, vm.serial(), least)
        vm.put(symbol, Dim.symbol(raised, dim.origin))


def _refine_call(vm: Machine, test: ast.Call, holds: bool) -> None:
    """`isinstance(x, T)`, `torch.is_tensor(x)`, `hasattr(x, name)`."""
    if isinstance(test.func, ast.Name) and test.func.id == "hasattr" and len(test.args) == 2:
        value, name = _peek(vm, test.args[0]), test.args[1]
        if isinstance(value, Claimed) and isinstance(name, ast.Constant) and isinstance(name.value, str):
            _settle(vm, test.args[0], value, has_attribute(vm, believed(value), name.value) or False, holds)
    elif isinstance(test.func, ast.Name) and test.func.id == "isinstance" and len(test.args) == 2:
        value = _peek(vm, test.args[0])
        classes = _peek(vm, test.args[1]) if not isinstance(test.args[1], ast.Tuple) else None
        if isinstance(test.args[1], ast.Tuple):
            parts = [_peek(vm, e) for e in test.args[1].elts]
            classes = Tup(tuple(p for p in parts if p is not None))
        if value is not None and classes is not None:
            _refine_instance(vm, test.args[0], value, classes, holds)
    elif isinstance(test.func, ast.Attribute) and test.func.attr == "is_tensor" and len(test.args) == 1:
        value = _peek(vm, test.args[0])
        if value is not None:
            _refine_instance(vm, test.args[0], value, Lib("torch.Tensor"), holds)


def _refine_instance(vm: Machine, node: ast.expr, value: Value, classes: Value, holds: bool) -> None:
    if isinstance(value, Union):
        kept = [o for o in value.options if is_instance(vm, o, classes) is not (not holds)]
        _keep(vm, node, value, kept)
        value_now = _peek(vm, node)
        value = value if value_now is None else value_now
    if isinstance(value, Claimed):
        _settle(vm, node, value, is_instance(vm, believed(value), classes), holds)
    if isinstance(value, Opaque) and holds:
        vm.put(("notnone", value), True)
        if isinstance(classes, Lib) and classes.name in TENSOR_CLASSES:
            lib = LIBRARY_OF_CLASS[classes.name]
            shape = Call(vm, "refine", lib).shape(value)
            made = Tensor(lib, shape)
            if vm.flow is not None:
                vm.flow.same(made, value)
            _rebind(vm, node, made)


def _settle(vm: Machine, node: ast.expr, value: Value, expected: bool | None, holds: bool) -> None:
    """A test of what an annotation claims: where it comes out as the claim says, the claim is true, else it is void."""
    if expected is holds:
        if holds:
            _rebind(vm, node, believed(value))
    elif expected is not None:
        _rebind(vm, node, vm.opaque(vm.snippet(node)))
