"""Evaluating expressions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from distml.interp import comprehensions
from distml.interp.attributes import get_attribute
from distml.interp.branches import by_data, decided, either
from distml.interp.calls import call_value
from distml.interp.data_files import joined_path
from distml.interp.generators import awaited, hand_out, made_later, note_awaited
from distml.interp.giving_up import MAX_NESTED, give_up, too_deep
from distml.interp.iteration import fresh_item
from distml.interp.join import join_many
from distml.interp.names import lookup_name
from distml.interp.one_value import asked, formatted, items_of
from distml.interp.operators import binary, compare, unary, vm_call
from distml.interp.refine import refine
from distml.interp.spreading import arguments_of, consumes, mapping, spread
from distml.interp.subscripts import subscript
from distml.interp.truth import is_bool, truth
from distml.ops.call import FALSE
from distml.ops.python.conversions import set_from
from distml.ops.python.folding import MAX_BITS, format_is_small
from distml.ops.python.iterating import LAZY
from distml.ops.python.keys import canonical, stored
from distml.shapes import Origin
from distml.solver.formula import negate
from distml.source.project import is_model
from distml.values import (
    NONE,
    Const,
    DictRecord,
    Function,
    Lib,
    ListRecord,
    Many,
    Prim,
    SetRecord,
    Slice,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.arguments import Arguments
    from distml.interp.machine import Machine
    from distml.solver.formula import Formula


MAX_PIECE = 10_000
"""How long a piece of a text with braces may be."""


def evaluate(vm: Machine, node: ast.expr) -> Value:
    """The value of an expression on the current path."""
    rule = vm.rules.get(type(node))
    if rule is None:
        return vm.opaque(vm.snippet(node))
    if vm.levels > MAX_NESTED:  # compiled code has no limit of its own but the end of the stack
        raise RecursionError
    vm.levels += 1
    try:
        return rule(vm, node)
    finally:
        vm.levels -= 1


def _constant(vm: Machine, node: ast.Constant) -> Value:
    known = vm.constants.get(id(node))
    if known is None:
        source = vm.frame.module.source
        origin = None
        if type(node.value) is int:
            if node.value.bit_length() > MAX_BITS:  # Python itself writes no such number in decimal
                return vm.opaque(vm.snippet(node))
            line = source.lines[node.lineno - 1].strip() if node.lineno <= len(source.lines) else ""
            if is_model(source):
                return Const(
                    node.value, vm.origin(node)
                )  # a number of a library is told as the program's call, each its own
            origin = Origin(str(node.value) if line else "", source.path, node.lineno, node.col_offset + 1)
        known = Const(node.value, origin)
        vm.constants[id(node)] = known
    return known


def _name(vm: Machine, node: ast.Name) -> Value:
    return lookup_name(vm, node.id, node)


def _attribute(vm: Machine, node: ast.Attribute) -> Value:
    value = evaluate(vm, node.value)
    saved, vm.node = vm.node, node
    try:
        return get_attribute(vm, value, node.attr, node)
    finally:
        vm.node = saved


def _call(vm: Machine, node: ast.Call) -> Value:
    callee = evaluate(vm, node.func)
    if node.args and callee == _RUN:
        note_awaited(node.args[0])
    written = arguments_of(vm, node, consumes(callee))
    saved, vm.node = vm.node, node
    try:
        result = spread(vm, written, lambda arguments: _called(vm, callee, arguments, node))
    finally:
        vm.node = saved
    if vm.shape_log is not None:
        vm.shape_log.called(node, callee, result)
    return result


def _called(vm: Machine, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
    if not isinstance(callee, Lib) or callee.name not in LAZY:
        return call_value(vm, callee, arguments, node)
    with made_later(vm) as made:
        made.append(call_value(vm, callee, arguments, node))
    return made[0]


_RUN = Lib("asyncio.run")


def _binary(vm: Machine, node: ast.BinOp) -> Value:
    left, right = evaluate(vm, node.left), evaluate(vm, node.right)
    saved, vm.node = vm.node, node
    try:
        return binary(vm, node.op, left, right, node)
    finally:
        vm.node = saved


def _unary(vm: Machine, node: ast.UnaryOp) -> Value:
    return unary(vm, node.op, evaluate(vm, node.operand), node)


def _compare(vm: Machine, node: ast.Compare) -> Value:
    left = evaluate(vm, node.left)
    outcomes: list[Value] = []
    certain = True
    saved, vm.node = vm.node, node
    try:
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = evaluate(vm, comparator)
            outcomes.append(compare(vm, operator, left, right, node))
            if len(node.ops) > 1:
                asks = certain and comparator is not node.comparators[-1]
                known = asked(vm, outcomes[-1], node) if asks else truth(vm, outcomes[-1])
                if known is False:
                    return FALSE
                certain = certain and known is True
            left = right
    finally:
        vm.node = saved
    if len(outcomes) == 1:
        return outcomes[0]
    if not certain:
        return Prim("bool") if vm.watcher is None else vm.watcher.joined(outcomes, conjunction=True)
    return Const(True)


def _bool(vm: Machine, node: ast.BoolOp) -> Value:
    """`and` and `or`: later operands run only where earlier ones do not decide."""
    if too_deep(vm):
        return give_up(vm, [node])
    stops_on = isinstance(node.op, ast.Or)
    value = evaluate(vm, node.values[0])
    for index, operand in enumerate(node.values[1:]):
        known = asked(vm, value, node.values[index])
        if known is stops_on:
            return value
        if known is None:
            return _undecided(vm, node, index, value, stops_on)
        value = evaluate(vm, operand)
    return value


def _undecided(vm: Machine, node: ast.BoolOp, index: int, value: Value, stops_on: bool) -> Value:
    operand = node.values[index]
    stopped = _only(vm, value, stops_on)
    conditions: tuple[Formula, ...] = ()
    if vm.watcher is not None:
        holds = vm.watcher.condition(value)
        conditions = (negate(holds), holds) if stops_on else (holds, negate(holds))
    found: list[Value] = []

    def go_on() -> None:
        refine(vm, operand, not stops_on)
        rest = node.values[index + 1 :]
        alone = len(rest) == 1
        found.append(evaluate(vm, rest[0] if alone else ast.copy_location(ast.BoolOp(node.op, rest), node)))

    either(vm, [go_on, lambda: None], by_data(vm, operand, value), conditions)
    if not found:
        refine(vm, operand, stops_on)
        return stopped
    if vm.watcher is not None and is_bool(value) and is_bool(found[0]):
        return vm.watcher.joined([value, *found], conjunction=not stops_on)
    return join_many(vm, [stopped, *found])


def _only(vm: Machine, value: Value, wanted: bool) -> Value:
    """The alternatives of a value that may have a truth value."""
    from distml.values import Union, union

    if isinstance(value, Union):
        kept = [o for o in value.options if truth(vm, o) is not (not wanted)]
        return union(kept) if kept else value
    return value


def _conditional(vm: Machine, node: ast.IfExp) -> Value:
    if too_deep(vm):
        return give_up(vm, [node])
    value, known, conditions = decided(vm, node, node.test)
    if known is not None:
        return evaluate(vm, node.body if known else node.orelse)

    def arm(expression: ast.expr, holds: bool) -> Callable[[], Value]:
        def run() -> Value:
            refine(vm, node.test, holds)
            return evaluate(vm, expression)

        return run

    found: list[Value] = []
    arms = [arm(node.body, True), arm(node.orelse, False)]
    runs: list[Callable[[], None]] = [lambda a=a: found.append(a()) for a in arms]  # type: ignore[misc]
    either(vm, runs, by_data(vm, node.test, value), conditions)
    return join_many(vm, found)


def _lambda(vm: Machine, node: ast.Lambda) -> Value:
    return make_function(vm, node, "lambda")


def make_function(vm: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str) -> Function:
    """The function a `def` or `lambda` makes here."""
    defaults = tuple(evaluate(vm, d) for d in node.args.defaults)
    kw_defaults = tuple(None if d is None else evaluate(vm, d) for d in node.args.kw_defaults)
    vm.frame.captured = True
    owner = vm.frame.owner if vm.frame.scope.is_class else None
    function = Function(node, vm.frame.module.name, vm.frame.ident, name, defaults, kw_defaults, owner)
    vm.note_function(function)
    return function


def _items(vm: Machine, elements: list[ast.expr]) -> tuple[Value, ...] | Many:
    """The items of a display; `Many` when a starred part of unknown length is among them."""
    found: list[Value] = []
    known = True
    for element in elements:
        if isinstance(element, ast.Starred):
            items = items_of(vm, evaluate(vm, element.value), element.value)
            if isinstance(items, tuple):
                found.extend(items)
            else:
                known = False
                found.append(fresh_item(vm, items))
        else:
            found.append(evaluate(vm, element))
    return tuple(found) if known else Many(join_many(vm, found))


def _tuple(vm: Machine, node: ast.Tuple) -> Value:
    items = _items(vm, node.elts)
    return vm.opaque(vm.snippet(node)) if isinstance(items, Many) else Tup(items)


def _list(vm: Machine, node: ast.List) -> Value:
    items = _items(vm, node.elts)
    return vm.allocate(ListRecord(None, items.item) if isinstance(items, Many) else ListRecord(items))


def _set(vm: Machine, node: ast.Set) -> Value:
    items = _items(vm, node.elts)
    return vm.allocate(SetRecord(None) if isinstance(items, Many) else set_from(vm_call(vm, "set"), items))


def _dict(vm: Machine, node: ast.Dict) -> Value:
    items: dict[Value, Value] = {}
    exact = True
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(vm, value_node)
        if key_node is None:
            exact = _merge_dict(vm, value, items) and exact
            continue
        key = evaluate(vm, key_node)
        if canonical(vm, key) is not None:
            items[stored(key)] = value
        else:
            exact = False
    return vm.allocate(DictRecord(items, exact))


def _merge_dict(vm: Machine, value: Value, items: dict[Value, Value]) -> bool:
    record = mapping(vm, value)
    if record is None:
        items.clear()
        return False
    items.update(record.items)
    return record.exact


def _subscript(vm: Machine, node: ast.Subscript) -> Value:
    value = evaluate(vm, node.value)
    index = evaluate(vm, node.slice)
    saved, vm.node = vm.node, node
    try:
        return subscript(vm, value, index, node)
    finally:
        vm.node = saved


def _slice(vm: Machine, node: ast.Slice) -> Value:
    parts = (NONE if p is None else evaluate(vm, p) for p in (node.lower, node.upper, node.step))
    return Slice(*parts)


def _walrus(vm: Machine, node: ast.NamedExpr) -> Value:
    value = evaluate(vm, node.value)
    vm.language.assign_name(vm, node.target.id, value, skip_comprehensions=True)
    if vm.shape_log is not None:
        vm.shape_log.note("assignment", node.target, value)
    return value


def _joined(vm: Machine, node: ast.JoinedStr) -> Value:
    values = [evaluate(vm, piece.value if isinstance(piece, ast.FormattedValue) else piece) for piece in node.values]
    parts = [_formatted(vm, piece, value) for piece, value in zip(node.values, values, strict=True)]
    known = [part for part in parts if part is not None]
    if len(known) == len(parts):
        return Const("".join(known))
    plain = all(isinstance(piece, ast.Constant) or _is_plain(piece) for piece in node.values)
    return (joined_path(vm, values) if plain else None) or Prim("str")


def _is_plain(piece: ast.expr) -> bool:
    return isinstance(piece, ast.FormattedValue) and piece.format_spec is None and piece.conversion == -1


def _formatted(vm: Machine, piece: ast.expr, value: Value) -> str | None:
    """A piece of a text with braces, as `format` writes it."""
    if not isinstance(value, Const) or not isinstance(value.value, str | int) or len(str(value.value)) >= MAX_PIECE:
        if isinstance(piece, ast.FormattedValue) and piece.format_spec is not None and piece.conversion == -1:
            formatted(vm, value, evaluate(vm, piece.format_spec), piece.value)
        return None
    if not isinstance(piece, ast.FormattedValue) or _is_plain(piece):
        return str(value.value)
    spec: Value = Const("") if piece.format_spec is None else evaluate(vm, piece.format_spec)
    if not isinstance(spec, Const) or not isinstance(spec.value, str) or not format_is_small(spec.value):
        return None
    shown = {-1: value.value, ord("s"): str(value.value), ord("r"): repr(value.value), ord("a"): ascii(value.value)}
    try:
        return format(shown[piece.conversion], spec.value)
    except ValueError:
        return None


def _yield(vm: Machine, node: ast.Yield) -> Value:
    value = NONE if node.value is None else evaluate(vm, node.value)
    if vm.shape_log is not None and node.value is not None:
        vm.shape_log.note("yield", node.value, value, "yield")
    if vm.frame.block is not None:
        return vm.frame.block(value)
    hand_out(vm, value)
    return vm.opaque("sent value")


def _yield_from(vm: Machine, node: ast.YieldFrom) -> Value:
    items = vm.iterate(evaluate(vm, node.value))
    if isinstance(items, tuple):
        hand_out(vm, *items)
    else:
        hand_out(vm, items.item, counted=False)
    return vm.opaque("generator result")


def _await(vm: Machine, node: ast.Await) -> Value:
    note_awaited(node.value)
    return awaited(vm, evaluate(vm, node.value))


def _starred(vm: Machine, node: ast.Starred) -> Value:
    evaluate(vm, node.value)
    return vm.opaque(vm.snippet(node))


RULES: dict[type[ast.expr], Callable[[Machine, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.IfExp: _conditional,
    ast.Lambda: _lambda,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.NamedExpr: _walrus,
    ast.JoinedStr: _joined,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Await: _await,
    ast.Starred: _starred,
    ast.ListComp: comprehensions.list_comprehension,
    ast.SetComp: comprehensions.set_comprehension,
    ast.DictComp: comprehensions.dict_comprehension,
    ast.GeneratorExp: comprehensions.generator_expression,
}

__all__ = ["RULES", "evaluate", "make_function"]
