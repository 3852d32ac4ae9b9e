"""Operators: arithmetic and comparison, on every kind of value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_op, call_value, each_alternative
from distml.interp.one_value import asked, filled_in
from distml.interp.several import are_several
from distml.interp.truth import truth
from distml.interp.typetests import container_of, real_class
from distml.interp.unsettled import unsettle
from distml.ops import Call
from distml.ops.arraylike import may_redefine
from distml.ops.dialect import dialect, library_of
from distml.ops.python.conditions import condition
from distml.ops.python.joined import as_times, is_sequence
from distml.ops.python.keys import enumeration_of, underlying
from distml.ops.registry import find_op
from distml.solver.formula import negate
from distml.values import (
    NONE,
    Bound,
    Class,
    Condition,
    Const,
    Function,
    InstanceRecord,
    Lib,
    Module,
    Num,
    Opaque,
    Partial,
    Prim,
    Range,
    Record,
    Ref,
    ShapeSeq,
    Slice,
    Tensor,
    Tup,
    Union,
    Value,
    as_bool,
)

if TYPE_CHECKING:
    from distml.interp.machine import Machine

BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "add"),
    ast.Sub: ("-", "sub"),
    ast.Mult: ("*", "mul"),
    ast.Div: ("/", "truediv"),
    ast.FloorDiv: ("//", "floordiv"),
    ast.Mod: ("%", "mod"),
    ast.Pow: ("**", "pow"),
    ast.MatMult: ("@", "matmul"),
    ast.LShift: ("<<", "lshift"),
    ast.RShift: (">>", "rshift"),
    ast.BitOr: ("|", "or"),
    ast.BitXor: ("^", "xor"),
    ast.BitAnd: ("&", "and"),
}
COMPARE: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "eq"),
    ast.NotEq: ("!=", "ne"),
    ast.Lt: ("<", "lt"),
    ast.LtE: ("<=", "le"),
    ast.Gt: (">", "gt"),
    ast.GtE: (">=", "ge"),
}
UNARY: dict[type[ast.unaryop], tuple[str, str]] = {
    ast.USub: ("-", "neg"),
    ast.UAdd: ("+", "pos"),
    ast.Invert: ("~", "invert"),
}
_COMPARED_WHOLE = (Const, Num, Prim, Tup, ShapeSeq, Range, Slice, Ref, Module, Function, Bound, Class, Partial)
"""What is compared with another of these to a bool. A name of a library may be an array, as may an unknown attribute."""
NOT_IMPLEMENTED = Lib("builtins.NotImplemented")
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def tensor_prefix(value: Tensor) -> str:
    """The class that the operators of an array are looked up in."""
    return dialect(value.lib).tensor


def binary(
    vm: Machine, operator: ast.operator, left: Value, right: Value, node: ast.AST, in_place: bool = False
) -> Value:
    """`left operator right`; `in_place` for augmented assignment."""
    symbol, name = BINARY[type(operator)]

    def run() -> Value:
        return each_alternative(vm, (left, right), lambda a, b: _binary(vm, symbol, name, a, b, node, in_place))

    return run() if vm.flow is None else vm.flow.followed(symbol, Arguments([left, right]), node, run)


def _binary(vm: Machine, symbol: str, name: str, left: Value, right: Value, node: ast.AST, in_place: bool) -> Value:
    if name not in ("or", "and", "xor") or not (_is_flag(vm, left) or _is_flag(vm, right)):
        left, right = underlying(vm, left), underlying(vm, right)
    overloaded = _overloaded(vm, name, left, right, in_place)
    if overloaded is not None:
        return overloaded
    array = _array_of(left, right)
    if array is not None and (may_redefine(vm, left) or may_redefine(vm, right)):
        return vm.opaque(vm.snippet(node), vm.origin(node))
    if symbol == "%":
        filled_in(vm, left, right, node)
    repeated = _repeated(vm, left, right, node, in_place) if name == "mul" and array is not None else None
    if repeated is not None:
        return repeated
    if in_place and isinstance(left, Ref) and not (array is not None and dialect(array.lib).takes_lists):
        changed = _changed_container(vm, name, left, right, node)
        if changed is not None:
            return changed
    if array is not None:
        dunder = f"__i{name}__" if in_place and left is array else f"__{name}__"
        return call_op(vm, f"{tensor_prefix(array)}.{dunder}", Arguments([left, right]), node, array.lib)
    if name == "matmul":
        return vm.opaque(vm.snippet(node))
    from distml.ops.python import arithmetic

    if arithmetic.divides_by_zero(symbol, left, right):
        raise vm.raised()
    result = arithmetic.binary(vm_call(vm, symbol), symbol, left, right)
    if result is None:
        return vm.opaque(vm.snippet(node))
    if isinstance(result, Const) and type(result.value) is int and result.origin is None:
        return Const(result.value, vm.origin(node))
    return result


def _repeated(vm: Machine, left: Value, right: Value, node: ast.AST, in_place: bool) -> Value | None:
    """A sequence times an array that is a number; None where the array takes the sequence for one."""
    sequence, times = (left, right) if isinstance(right, Tensor) else (right, left)
    call = vm_call(vm, "*")
    number = as_times(call, times) if isinstance(times, Tensor) and is_sequence(call, sequence) else None
    if number is None:
        return None
    if not isinstance(number, Opaque):
        return _binary(vm, "*", "mul", sequence, number, node, in_place and sequence is left)
    if in_place:
        unsettle(vm, left)
    return vm.opaque(vm.snippet(node), vm.origin(node))


def _changed_container(vm: Machine, name: str, container: Ref, other: Value, node: ast.AST) -> Value | None:
    """A list, set or dict that an augmented assignment changes; None where that makes a new value."""
    made_by = container_of(vm, container)
    kind = real_class(made_by) if made_by else None
    if kind is None or not hasattr(kind, f"__i{name}__"):
        return None
    full = f"{made_by}.__i{name}__"
    if find_op(full) is None:
        unsettle(vm, container)
        return container
    return call_op(vm, full, Arguments([container, other]), node, "builtins")


def _array_of(left: Value, right: Value) -> Tensor | None:
    """The operand whose library decides."""
    arrays = [v for v in (left, right) if isinstance(v, Tensor)]
    if not arrays:
        return None
    return max(arrays, key=lambda a: dialect(a.lib).precedence)


def vm_call(vm: Machine, name: str) -> Call:
    """A call object for the rules of Python's own operators."""
    return Call(vm, name, "builtins")


def _overloaded(vm: Machine, name: str, left: Value, right: Value, in_place: bool) -> Value | None:
    """An operator method of a class of the project; an unknown value for other objects."""
    if not any(_is_object(vm, value) for value in (left, right)):
        return None
    order = [(left, f"__{name}__", right), (right, f"__r{name}__", left)]
    if _derived(vm, right, left):
        order.reverse()
    if in_place:
        order.insert(0, (left, f"__i{name}__", right))
    found = None if _takes_apart(vm, order[0]) else _first_answer(vm, order)
    return vm.opaque(f"__{name}__") if found is None else found


def _takes_apart(vm: Machine, operator: tuple[Value, str, Value]) -> bool:
    """Whether an array of NumPy goes first: it applies the operator to each of its elements, unless the object objects."""
    left, _, right = operator
    if not isinstance(left, Tensor) or not dialect(left.lib).takes_objects_apart:
        return False
    return vm.attribute(right, "__array_ufunc__") != NONE and vm.attribute(right, "__array_priority__") is None


def _first_answer(vm: Machine, order: list[tuple[Value, str, Value]]) -> Value | None:
    """What the first operator method gives that does not answer `NotImplemented`."""
    for receiver, name, other in order:
        method = vm.attribute(receiver, name) if _is_object(vm, receiver) else None
        if isinstance(method, Opaque):
            return vm.opaque(name)
        if method is None:
            continue
        result = call_value(vm, method, Arguments([other]))
        if isinstance(result, Union) and NOT_IMPLEMENTED in result.options:
            return vm.opaque(name)
        if result != NOT_IMPLEMENTED:
            return result
    return None


def _is_object(vm: Machine, value: Value) -> bool:
    return isinstance(value, Ref) and isinstance(vm.record(value), InstanceRecord)


def _is_flag(vm: Machine, value: Value) -> bool:
    return bool(getattr(enumeration_of(vm, value), "composites", None))


def _derived(vm: Machine, value: Value, other: Value) -> bool:
    """Whether the class of one object is derived from that of another, so that its operators go first."""
    classes = [record.cls for v in (value, other) if isinstance(record := _instance(vm, v), InstanceRecord)]
    if len(classes) < 2 or classes[0] == classes[1] or not isinstance(classes[0], Class):
        return False
    return classes[1] in vm.at(classes[0].address).mro


def _instance(vm: Machine, value: Value) -> Record | None:
    return vm.record(value) if isinstance(value, Ref) else None


def unary(vm: Machine, operator: ast.unaryop, value: Value, node: ast.AST) -> Value:
    """`-x`, `+x`, `~x`, `not x`."""
    if isinstance(operator, ast.Not):
        known = asked(vm, value, node.operand if isinstance(node, ast.UnaryOp) else node)
        if known is None and vm.watcher is not None:
            return Condition("bool", negate(vm.watcher.condition(value)))
        return Prim("bool") if known is None else Const(not known)
    symbol, name = UNARY[type(operator)]
    return each_alternative(vm, (value,), lambda v: _unary(vm, symbol, name, v, node))


def _unary(vm: Machine, symbol: str, name: str, value: Value, node: ast.AST) -> Value:
    if isinstance(value, Tensor):
        return call_op(vm, f"{tensor_prefix(value)}.__{name}__", Arguments([value]), node, value.lib)
    if isinstance(value, Ref):
        method = vm.attribute(value, f"__{name}__")
        if method is not None and not isinstance(method, Opaque):
            return call_value(vm, method, Arguments([]))
    from distml.ops.python import arithmetic

    result = arithmetic.unary(vm_call(vm, symbol), symbol, value)
    return vm.opaque(vm.snippet(node)) if result is None else result


def compare(vm: Machine, operator: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value:
    """One comparison; `Prim("bool")` when its outcome is unknown."""
    if isinstance(operator, ast.Is | ast.IsNot):
        return _negated(_identical(vm, left, right), isinstance(operator, ast.IsNot))
    if isinstance(operator, ast.In | ast.NotIn):
        known = _contains(vm, right, left)
        if known is None and vm.watcher is not None:
            among = condition(vm_call(vm, "in"), "in", left, right)
            if among is not None:
                return Condition("bool", negate(among) if isinstance(operator, ast.NotIn) else among)
        return _negated(known, isinstance(operator, ast.NotIn))
    symbol, name = COMPARE[type(operator)]
    left, right = underlying(vm, left), underlying(vm, right)
    return each_alternative(vm, (left, right), lambda a, b: _compare(vm, symbol, name, a, b, node))


def _negated(known: bool | None, negate: bool) -> Value:
    return Prim("bool") if known is None else Const(known != negate)


def _compare(vm: Machine, symbol: str, name: str, left: Value, right: Value, node: ast.AST) -> Value:
    overloaded = _overloaded_comparison(vm, name, left, right)
    if overloaded is not None:
        return overloaded
    for value in (left, right):
        full = f"{value.kind}.__{name}__" if isinstance(value, Tup) else ""
        if full and find_op(full) is not None:
            # A tuple of a library's own class, which says what it is equal to.
            return call_op(vm, full, Arguments([left, right]), node, library_of(full))
    array = _array_of(left, right)
    if array is not None and (may_redefine(vm, left) or may_redefine(vm, right)):
        return vm.opaque(vm.snippet(node), vm.origin(node))
    if array is not None:
        if NONE in (left, right) and name in ("eq", "ne"):
            return Const(name == "ne")
        return call_op(vm, f"{tensor_prefix(array)}.__{name}__", Arguments([left, right]), node, array.lib)
    from distml.ops.python import arithmetic

    known = arithmetic.compare(vm_call(vm, symbol), symbol, left, right)
    if known is None and vm.watcher is not None:
        formula = condition(vm_call(vm, symbol), symbol, left, right)
        if formula is not None:
            return Condition("bool", formula)
    if known is None and not (isinstance(left, _COMPARED_WHOLE) and isinstance(right, _COMPARED_WHOLE)):
        # Arrays are compared element by element.
        return vm.opaque(vm.snippet(node), vm.origin(node))
    return as_bool(known)


def _overloaded_comparison(vm: Machine, name: str, left: Value, right: Value) -> Value | None:
    if not any(_is_object(vm, value) for value in (left, right)):
        return None
    if _array_of(left, right) is not None:
        return vm.opaque(f"__{name}__")
    if may_redefine(vm, left) and not _is_object(vm, left):
        return vm.opaque(f"__{name}__")  # the left operand is asked first
    order = [(left, f"__{name}__", right), (right, f"__{_MIRRORED[name]}__", left)]
    found = _first_answer(vm, order)
    if found is None and name == "ne":
        equal = _first_answer(vm, [(left, "__eq__", right), (right, "__eq__", left)])
        known = None if equal is None else truth(vm, equal)
        found = None if equal is None else _negated(known, True)
    if found is not None:
        return found
    if may_redefine(vm, left) or may_redefine(vm, right):
        return vm.opaque(f"__{name}__")
    if name not in ("eq", "ne"):
        return Prim("bool")
    if left == right:
        return Const(name == "eq")
    fields = _fields_equal(vm, left, right)
    if fields is not None:
        return Const(fields is (name == "eq"))
    apart = _by_identity(vm, left, right) or _unlike(vm, left, right) or _unlike(vm, right, left)
    return Const(name == "ne") if apart else Prim("bool")


def _unlike(vm: Machine, value: Value, other: Value) -> bool:
    """Whether an object of a class of the project, which defines no equality, is compared with a built-in value."""
    record = _instance(vm, value)
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return False
    if not isinstance(other, Const | Num | Prim | Tup):
        return False
    return all(isinstance(base, Class) for base in vm.at(record.cls.address).mro)


def _fields_equal(vm: Machine, left: Value, right: Value) -> bool | None:
    """Whether two objects of one dataclass are equal: they are when their fields are."""
    one, other = _instance(vm, left), _instance(vm, right)
    if not isinstance(one, InstanceRecord) or not isinstance(other, InstanceRecord) or one.cls != other.cls:
        return None
    record = vm.at(one.cls.address) if isinstance(one.cls, Class) else None
    if record is None or not record.fields or "eq=False" in ast.unparse(record.node).partition("class ")[0]:
        return None
    answers = []
    for field, default in record.fields:
        if not getattr(default, "compared", True):
            continue
        a, b = one.attrs.get(field), other.attrs.get(field)
        known = None if a is None or b is None else truth(vm, compare(vm, ast.Eq(), a, b, record.node))
        answers.append(known)
    return False if False in answers else (None if None in answers else True)


def _by_identity(vm: Machine, left: Value, right: Value) -> bool:
    """Whether two objects are equal only if they are one: nothing defines equality for them."""
    for value in (left, right):
        record = vm.record(value) if isinstance(value, Ref) else None
        if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
            return False
        cls = vm.at(record.cls.address)
        if cls.fields is not None or (cls.open and cls.kind != "enum"):
            return False
    return True


def _identical(vm: Machine, left: Value, right: Value) -> bool | None:
    if left == right and are_several(vm, left):
        return None
    if NONE in (left, right) and vm.get(("notnone", left if right == NONE else right)):
        return False
    from distml.ops.python.comparing import compare as decide

    return decide(vm_call(vm, "is"), "is", left, right)


def _contains(vm: Machine, container: Value, item: Value) -> bool | None:
    if isinstance(container, Ref) and isinstance(vm.record(container), InstanceRecord):
        method = vm.attribute(container, "__contains__")
        if method is None or isinstance(method, Opaque):
            vm.iterate(container)  # it is gone through until the item comes
            return None
        return truth(vm, call_value(vm, method, Arguments([item])))
    from distml.ops.python.comparing import contains

    return contains(vm_call(vm, "in"), container, item)
