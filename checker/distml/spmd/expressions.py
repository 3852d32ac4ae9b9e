"""The value of an expression on one rank."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from distml.spmd import names
from distml.spmd.builtins import made_first
from distml.spmd.library import RANK_VARIABLES, RANKS, SIZE_VARIABLES
from distml.spmd.members import WHOLE, computed, holds_objects, item, kept
from distml.spmd.run import Run
from distml.spmd.told import MAYBE, Watch, chosen, owned
from distml.spmd.values import (
    NOTHING_TOLD,
    Class,
    Container,
    Function,
    Group,
    Instance,
    Items,
    Known,
    Local,
    Place,
    Scope,
    Table,
    Unknown,
    Value,
    derived,
    element,
    key,
    local_of,
    trained,
    truth,
)

MAX_MEMBERS = 64
BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SIGNS = {ast.Eq: "==", ast.Lt: "<", ast.Gt: ">", ast.Is: "is", ast.In: "in"}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.IsNot: ast.Is,
    ast.NotIn: ast.In,
}


def value(run: Run, scope: Scope, node: ast.expr) -> Value:
    """What `node` is worth. Raises `OutOfBudgetError`."""
    run.step()
    found = _EVALUATE.get(type(node))
    return found(run, scope, node) if found else _composed(run, scope, node)


def negation(of: Value) -> Value:
    """`not x`."""
    known = truth(of)
    if known is not None:
        return Known(not known)
    found = Unknown(f"not {key(of)}", local_of(of))
    if isinstance(of, Unknown):
        found.told = (of.told[1], of.told[0])
        found.either = of.either and (not of.either[0], negation(of.either[1]), negation(of.either[2]))
    return found


def truth_of(run: Run, scope: Scope, node: ast.expr) -> Value:
    """A condition: `Known`, or what it depends on."""
    found = _tested(value(run, scope, node))
    known = truth(found)
    return found if known is None else Known(known)


def _tested(found: Value) -> Value:
    """A value as a condition: of what holds others it is asked whether it is empty, and not what they are."""
    empty = isinstance(found, Container) and truth(found) is None
    return Unknown(f"any of {key(found)}") if empty else found


def merged(run: Run, one: Value, other: Value, text: str, local: Local | None) -> Value:
    """What is one of two values; who looks at what is told meets the objects that there may be: that tells what they do."""
    if one is other or key(one) == key(other):
        return one
    held = [each for each in (one, other) if run.watch is not None and _is_object(each)]
    if held:
        return held[0]
    why = local or local_of(one, other)
    kinds = {each.type for each in (one, other) if isinstance(each, Unknown)}
    return Unknown(text, why, kinds.pop() if len(kinds) == 1 else "", trained(one, other), sides=(one, other))


def _constant(_run: Run, _scope: Scope, node: ast.Constant) -> Value:
    plain = isinstance(node.value, int | float | str | bytes | bool | None)
    return Known(node.value) if plain else Unknown(repr(node.value))  # type: ignore[arg-type]


def _name(run: Run, scope: Scope, node: ast.Name) -> Value:
    return run.current(names.lookup(run, scope, node.id))


def _attribute(run: Run, scope: Scope, node: ast.Attribute) -> Value:
    return run.current(names.attribute(run, value(run, scope, node.value), node.attr, Place(scope.source, node)))


def _call(run: Run, scope: Scope, node: ast.Call) -> Value:
    return run.language.evaluate_call(run, scope, node)


def _binary(run: Run, scope: Scope, node: ast.BinOp) -> Value:
    left, right = value(run, scope, node.left), value(run, scope, node.right)
    operation = BINARY.get(type(node.op))
    if isinstance(left, Known) and isinstance(right, Known) and operation:
        return computed(operation, left, right)
    if isinstance(left, Items) and isinstance(right, Items) and isinstance(node.op, ast.Add):
        return Items([*left.members, *right.members], left.kind, left.exact and right.exact)
    if isinstance(node.op, ast.Mult) and isinstance(left, Items) and isinstance(right, Known):
        repeated = _repeated(left, right.value)
        if repeated is not None:
            return repeated
    found = derived(f"({key(left)} {type(node.op).__name__} {key(right)})", left, right)
    if run.watch is not None:
        found.local = found.local or chosen(Place(scope.source, node), left, right)
    tensors = [each for each in (left, right) if isinstance(each, Unknown) and each.shape]
    if len(tensors) == 1 and any(isinstance(each, Known) for each in (left, right)):
        found.shape = tensors[0].shape
    return found


def _repeated(items: Items, times: object) -> Items | None:
    """`items * times`, where that is short."""
    few = isinstance(times, int) and len(items.members) * times <= MAX_MEMBERS
    return Items(items.members * times, items.kind, items.exact) if few and isinstance(times, int) else None


def _unary(run: Run, scope: Scope, node: ast.UnaryOp) -> Value:
    operand = value(run, scope, node.operand)
    if isinstance(node.op, ast.Not):
        return negation(operand)
    if isinstance(operand, Known) and isinstance(operand.value, int | float):
        signs: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
        if type(node.op) in signs:
            return computed(signs[type(node.op)], operand)
    return derived(f"{type(node.op).__name__}({key(operand)})", operand)


def _boolean(run: Run, scope: Scope, node: ast.BoolOp) -> Value:
    decisive = isinstance(node.op, ast.Or)
    facts = run.facts(scope.source)
    left = _tested(value(run, scope, node.values[0]))
    for part in node.values[1:]:
        known = truth(left)
        if known is not None and facts.speaks(part):
            run.turn(Place(scope.source, part), known is not decisive, (part,))
        if known is decisive:
            return left
        if known is None and facts.speaks(part) and not run.sampling and _communicates(run, scope, part):
            known = run.decide(left, Place(scope.source, part))
            run.turn(Place(scope.source, part), known, (part,), local_of(left), guess=key(left))
            if known is decisive:
                return Known(decisive)
        right = value(run, scope, part)
        left = right if known is not None else _either(left, _tested(right), decisive)
    return left


def _communicates(run: Run, scope: Scope, node: ast.expr) -> bool:
    """Whether evaluating `node` communicates; nothing of it is kept."""
    if run.muted:
        return False
    with run.sample() as found:
        value(run, scope, node)
    return bool(found)


def _either(left: Value, right: Value, decisive: bool) -> Value:
    """`left and right`, or `left or right`, where nothing is known of `left`."""
    both = f"({key(left)} {'or' if decisive else 'and'} {key(right)})"
    if truth(right) is decisive:
        return (
            Known(decisive)
            if isinstance(right, Known) and isinstance(right.value, bool)
            else derived(both, left, right)
        )
    if truth(right) is (not decisive):
        return left
    found = derived(both, left, right)
    if any(isinstance(each, Unknown) and (each.either or each.told != NOTHING_TOLD) for each in (left, right)):
        found.either = (decisive, left, right)
    return found


def _comparison(run: Run, scope: Scope, node: ast.Compare) -> Value:
    left = value(run, scope, node.left)
    found: Value = Known(True)
    for operation, part in zip(node.ops, node.comparators):
        right = value(run, scope, part)
        one = _compared(type(operation), left, right)
        if truth(one) is False:
            return one
        found = one if truth(found) else found if truth(one) else _either(found, one, False)
        left = right
    return found


def _compared(operation: type[ast.cmpop], left: Value, right: Value) -> Value:
    if operation in (ast.In, ast.NotIn):
        inside = _contains(right, left)
        if inside is not None:
            return Known(inside == (operation is ast.In))
    elif isinstance(left, Known) and isinstance(right, Known):
        if operation in _COMPARE:
            return computed(_COMPARE[operation], left, right)
        return Known((left.value is right.value) == (operation is ast.Is))
    elif operation in (ast.Is, ast.IsNot, ast.Eq, ast.NotEq) and _never_alike(left, right):
        return Known(operation in (ast.IsNot, ast.NotEq))
    if operation in _OPPOSITE:
        return negation(_compared(_OPPOSITE[operation], left, right))
    if operation is ast.Gt:
        left, right = right, left
    sign = "<" if operation is ast.Gt else _SIGNS.get(operation, "?")
    found = derived(f"({key(left)} {sign} {key(right)})", left, right)
    sides = ((left, right), (right, left))
    equal = {(key(one), other.value) for one, other in sides if isinstance(one, Unknown) and isinstance(other, Known)}
    asked = any(isinstance(one, Unknown) and one.type == MAYBE and _is_none(other) for one, other in sides)
    local = None if asked else found.local
    return Unknown(found.key, local, told=(frozenset(), frozenset(equal if operation is ast.Eq else ())))


def _is_none(value: Value) -> bool:
    """Whether a value is None."""
    return isinstance(value, Known) and value.value is None


def _never_alike(left: Value, right: Value) -> bool:
    """Whether one of the two is None and the other certainly is not, or one is a plain value and the other code."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Known):
            return isinstance(other, Function | Class) or (one.value is None and not isinstance(other, Known | Unknown))
    return False


def _contains(container: Value, member: Value) -> bool | None:
    if names.is_environment(container) and isinstance(member, Known):
        return True if member.value in RANK_VARIABLES | SIZE_VARIABLES else None
    if isinstance(member, Known):
        if isinstance(container, Items) and container.exact:
            if all(isinstance(each, Known) for each in container.members):
                return any(isinstance(each, Known) and each.value == member.value for each in container.members)
        elif isinstance(container, Table):
            return member.value in container.members if container.exact else None
        elif isinstance(container, Group):
            return member.value in container.members if container.members is not None else None
        elif isinstance(container, Known) and isinstance(container.value, str) and isinstance(member.value, str):
            return member.value in container.value
    return None


def _conditional(run: Run, scope: Scope, node: ast.IfExp) -> Value:
    test = truth_of(run, scope, node.test)
    known = truth(test)
    facts = run.facts(scope.source)
    guess = ""
    if known is None and not run.sampling and (facts.speaks(node.body) or facts.speaks(node.orelse)):
        known, guess = run.decide(test, Place(scope.source, node)), key(test)
    if known is not None:
        run.turn(Place(scope.source, node), known, (node.body, node.orelse), local_of(test), guess=guess)
        return value(run, scope, node.body if known else node.orelse)
    one, other = value(run, scope, node.body), value(run, scope, node.orelse)
    return merged(run, one, other, f"({key(one)} if {key(test)} else {key(other)})", local_of(test))


def _is_object(found: Value) -> bool:
    """Whether a value is an object of the program, or holds some."""
    return isinstance(found, Instance) or (isinstance(found, Items | Table) and holds_objects(found))


def _subscript(run: Run, scope: Scope, node: ast.Subscript) -> Value:
    container, index = value(run, scope, node.value), value(run, scope, node.slice)
    if names.is_environment(container) and isinstance(index, Known):
        return names.variable(run, index.value)
    place = Place(scope.source, node)
    met = None if run.watch is None else kept(container, index) or _asked(run, container, index, place)
    found = run.current(made_first(run, container, index, place) or met or item(container, index, place))
    if run.watch is None:
        return found
    if isinstance(found, Unknown) and isinstance(container, Unknown) and container.each is not None:
        found.local = found.local or local_of(container.each)
    own = chosen(place, index)
    return found if own is None else owned(found, own)


def _asked(run: Run, container: Value, index: Value, place: Place) -> Value | None:
    """What an object of the program gives for an index."""
    member = names.class_member(run, container.cls, "__getitem__") if isinstance(container, Instance) else None
    if not isinstance(member, Function):
        return None
    return run.language.invoke(run, replace(member, bound=container), [index], {}, place)


def put_into(run: Run, scope: Scope, node: ast.expr, found: Collection[Value]) -> None:
    """Something is put into what `node` stands for, or into what that holds: it is this rank's own then, if that is, and the
    same on all ranks again once it takes what all ranks agree on.
    """
    if run.watch is None:
        return
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
        node = node.value if isinstance(node, ast.Attribute) and not isinstance(node.value, ast.Name) else node
    if not isinstance(node, ast.Name | ast.Attribute):
        return
    put(run, run.watch, value(run, scope, node), found)


def put(run: Run, watch: Watch, holds: Value, found: Collection[Value]) -> None:
    """Something is put into a value."""
    holds, local = run.current(holds), local_of(*found)
    own = local if local is not None and local.data else None
    if isinstance(holds, Unknown) and (own or watch.agreed(found)):
        run.write(run.settled, id(holds), (holds, replace(holds, local=own)))
    elif isinstance(holds, Table) and own:
        run.write(holds.state, "members", {**holds.members, "…": Unknown("put in", own)})


def _slice(run: Run, scope: Scope, node: ast.Slice) -> Value:
    parts = [value(run, scope, part) if part else Known(None) for part in (node.lower, node.upper, node.step)]
    found = derived(":".join(map(key, parts)), *parts)
    if run.watch is not None:
        found.local = found.local or chosen(Place(scope.source, node), *parts)
    lower, _, step = parts
    written = isinstance(node.lower, ast.Constant) or isinstance(node.step, ast.Constant)
    dealt = not written and isinstance(step, Known) and step.value == RANKS
    if dealt and isinstance(lower, Known) and lower.value == run.rank:
        found.type = "slice by rank"
    elif node.lower is node.upper is node.step:
        found.type = WHOLE
    return found


def _sequence(run: Run, scope: Scope, node: ast.List | ast.Tuple | ast.Set) -> Value:
    members: list[Value] = []
    exact = True
    for part in node.elts:
        if isinstance(part, ast.Starred):
            inner = value(run, scope, part.value)
            members += inner.members if isinstance(inner, Items) else [inner]
            exact = exact and isinstance(inner, Items) and inner.exact
        else:
            members.append(value(run, scope, part))
    return Items(members, type(node).__name__.lower(), exact)


def _dictionary(run: Run, scope: Scope, node: ast.Dict) -> Value:
    members: dict[Any, Value] = {}
    exact = True
    for name, part in zip(node.keys, node.values):
        index = value(run, scope, name) if name else None
        inner = value(run, scope, part)
        if isinstance(index, Known):
            members[index.value] = inner
        elif name is None and isinstance(inner, Table):
            members.update(inner.members)
            exact = exact and inner.exact
        else:
            exact = False
            if index is not None:
                members[f"[{key(index)}]"] = inner
    return Table(members, exact)


def _text(run: Run, scope: Scope, node: ast.JoinedStr) -> Value:
    parts = [value(run, scope, part) for part in node.values]
    if all(isinstance(part, Known) for part in parts):
        return Known("".join(str(part.value) for part in parts if isinstance(part, Known))[:200])
    return derived(f"f({', '.join(map(key, parts))})", *parts)


def _formatted(run: Run, scope: Scope, node: ast.FormattedValue) -> Value:
    found = value(run, scope, node.value)
    if node.format_spec is None and node.conversion < 0:
        return found
    spec = value(run, scope, node.format_spec) if node.format_spec is not None else Known("")
    short = isinstance(spec, Known) and not re.search(
        r"\d{3}", str(spec.value)
    )  # a text of any length may be asked for
    if isinstance(found, Known) and isinstance(spec, Known) and short and node.conversion < 0:
        return computed(format, found, spec)
    return derived(f"format({key(found)}, {node.conversion}, {key(spec)})", found, spec)


def _lambda(_run: Run, scope: Scope, node: ast.Lambda) -> Value:
    return Function(node, scope)


def _assigned(run: Run, scope: Scope, node: ast.NamedExpr) -> Value:
    found = value(run, scope, node.value)
    run.write(scope.names, node.target.id, found)
    return found


def _waited(run: Run, scope: Scope, node: ast.Await) -> Value:
    return value(run, scope, node.value)


def _comprehended(run: Run, scope: Scope, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    return run.language.comprehension(run, scope, node)


def _yielded(run: Run, scope: Scope, node: ast.Yield) -> Value:
    given = value(run, scope, node.value) if node.value else Known(None)
    return run.language.resume(run, scope, given)


def _yielded_all(run: Run, scope: Scope, node: ast.YieldFrom) -> Value:
    given = value(run, scope, node.value)
    return run.language.resume(run, scope, element(given) if isinstance(given, Unknown) else derived(key(given), given))


def _composed(run: Run, scope: Scope, node: ast.expr) -> Value:
    inner = [value(run, scope, part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    return derived(f"{type(node).__name__}({', '.join(map(key, inner))})", *inner)


_EVALUATE: dict[type[ast.expr], Any] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dictionary,
    ast.JoinedStr: _text,
    ast.FormattedValue: _formatted,
    ast.Lambda: _lambda,
    ast.NamedExpr: _assigned,
    ast.Await: _waited,
    ast.ListComp: _comprehended,
    ast.SetComp: _comprehended,
    ast.GeneratorExp: _comprehended,
    ast.DictComp: _comprehended,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded_all,
}
