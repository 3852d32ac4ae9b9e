"""Executing statements."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from distml.interp import loops, trying
from distml.interp.assertions import execute_assert
from distml.interp.branches import by_data, decided, either
from distml.interp.class_statements import define_class
from distml.interp.contracts import check_raises
from distml.interp.decorators import decorate_function
from distml.interp.deleting import delete_attribute
from distml.interp.exits import ends_well
from distml.interp.expressions import evaluate, make_function
from distml.interp.giving_up import give_up, too_deep
from distml.interp.hints import annotate
from distml.interp.imports import execute_import, execute_import_from
from distml.interp.machine import PathEnd, ProcessEnd
from distml.interp.matching import execute_match
from distml.interp.names import assign_name
from distml.interp.operators import binary
from distml.interp.patterns import assign_target
from distml.interp.reached import Test, run_arm, run_behind
from distml.interp.refine import refine
from distml.interp.subscripts import store_subscript, subscript
from distml.values import NONE, Class, Opaque, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine


def execute_block(vm: Machine, body: list[ast.stmt]) -> None:
    """Run statements in order; raises `PathEnd` when the path ends in one."""
    before: ast.stmt | None = None
    for statement in body:
        if isinstance(statement, ast.Raise):
            run_behind(vm, statement, before)
        else:
            execute(vm, statement)
        before = statement


def execute(vm: Machine, node: ast.stmt) -> None:
    """Run one statement."""
    vm.step()
    vm.visited.add(id(node))
    vm.node = node
    rule = _RULES.get(type(node))
    if too_deep(vm):
        give_up(vm, [node])
    elif rule is not None:
        rule(vm, node)


def _expression(vm: Machine, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        evaluate(vm, node.value)


def _assign(vm: Machine, node: ast.Assign) -> None:
    value = evaluate(vm, node.value)
    saved, vm.node = vm.node, node
    for target in node.targets:
        assign_target(vm, target, value)
    vm.node = saved


def _annotated(vm: Machine, node: ast.AnnAssign) -> None:
    if node.value is None:
        return
    value = annotate(vm, node.annotation, evaluate(vm, node.value), node.target, node)
    assign_target(vm, node.target, value)


def _augmented(vm: Machine, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Subscript):
        container, index = evaluate(vm, target.value), evaluate(vm, target.slice)
        saved, vm.node = vm.node, node
        before = subscript(vm, container, index, target)
        vm.node = saved
        after = binary(vm, node.op, before, evaluate(vm, node.value), node, in_place=True)
        store_subscript(vm, container, index, after, target)
        return
    before = evaluate(vm, target)
    value = evaluate(vm, node.value)
    saved, vm.node = vm.node, node
    result = binary(vm, node.op, before, value, node, in_place=True)
    vm.node = saved
    assign_target(vm, target, result)


def _if(vm: Machine, node: ast.If) -> None:
    value, known, conditions = decided(vm, node, node.test)
    if known is not None:
        refine(vm, node.test, known)
        taken, other = (node.body, node.orelse) if known else (node.orelse, node.body)
        run_arm(vm, node, [Test(node.test, known)], taken, [other])
        return

    def arm(body: list[ast.stmt], holds: bool) -> Callable[[], None]:
        def run() -> None:
            refine(vm, node.test, holds)
            execute_block(vm, body)

        return run

    either(vm, [arm(node.body, True), arm(node.orelse, False)], by_data(vm, node.test, value), conditions)


def _function(vm: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    function = make_function(vm, node, node.name)
    assign_name(vm, node.name, decorate_function(vm, node, function))


def _class(vm: Machine, node: ast.ClassDef) -> None:
    value = define_class(vm, node)
    assign_name(vm, node.name, value)
    if isinstance(value, Class):
        vm.note_class(value)


def _return(vm: Machine, node: ast.Return) -> None:
    value: Value = NONE if node.value is None else evaluate(vm, node.value)
    if vm.shape_log is not None and node.value is not None:
        vm.shape_log.note("return", node.value, value, "return")
    if vm.frame.returning is not None and node.value is not None:
        vm.frame.returning(node.value, value)
    vm.frame.returns.append((value, vm.state))
    raise PathEnd


def _raise(vm: Machine, node: ast.Raise) -> None:
    if node.exc is not None:
        evaluate(vm, node.exc)
    if vm.watcher is not None and not _is_left_open(node):
        vm.watcher.refused(node, f"the program itself raises: {vm.snippet(node)}")
    check_raises(vm, node)
    raise vm.raised(ProcessEnd() if node.exc is not None and ends_well(vm, node) else None)


def _is_left_open(node: ast.Raise) -> bool:
    """`raise NotImplementedError`: what is called is meant to be some subclass's."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _delete(vm: Machine, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            assign_name(vm, target.id, None)
        elif isinstance(target, ast.Subscript):
            container = evaluate(vm, target.value)
            index = evaluate(vm, target.slice)
            method = None if isinstance(container, Opaque) else vm.attribute(container, "__delitem__")
            if method is not None and not isinstance(method, Opaque):
                vm.apply(method, [index])
        elif isinstance(target, ast.Attribute):
            delete_attribute(vm, evaluate(vm, target.value), target.attr)


def _with(vm: Machine, node: ast.With | ast.AsyncWith) -> None:
    trying.execute_with(vm, node)


_RULES: dict[type[ast.stmt], Callable[[Machine, Any], None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: loops.execute_for,
    ast.AsyncFor: loops.execute_for,
    ast.While: loops.execute_while,
    ast.Break: loops.execute_break,
    ast.Continue: loops.execute_continue,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Delete: _delete,
    ast.Try: trying.execute_try,
    ast.TryStar: trying.execute_try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Assert: execute_assert,
    ast.Import: execute_import,
    ast.ImportFrom: execute_import_from,
    ast.Match: execute_match,
}
