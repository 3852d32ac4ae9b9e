"""`with` over a generator of the program: the block runs where the generator yields.

https://docs.python.org/3/library/contextlib.html#contextlib.contextmanager
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.functions import run_around
from distml.interp.leaving import Leaving
from distml.interp.machine import PathEnd
from distml.interp.patterns import assign_target
from distml.interp.scope import own_parts
from distml.interp.spreading import arguments_of, together
from distml.values import NONE, Bound, Function, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine

_With = ast.With | ast.AsyncWith


def generator_of(vm: Machine, item: ast.withitem) -> Function | Bound | None:
    """The function of the program that makes a manager by yielding once, wherever it may go."""
    made = item.context_expr
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name | ast.Attribute):
        return None
    callee = vm.language.evaluate(vm, made.func)
    function = callee.function if isinstance(callee, Bound) else callee
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        return None
    return callee if _after_yield(function.node.body) is not None else None  # type: ignore[return-value]


def execute_parts(vm: Machine, node: _With) -> bool:
    """Run a `with` one manager after another; False if none of it could be run."""
    if len(node.items) == 1:
        return _around(vm, node)
    vm.language.execute(vm, _nested(vm, node))
    return True


def _nested(vm: Machine, node: _With) -> _With:
    """`with a, b:` as `with a:` and `with b:` within, the same each time."""
    made = vm.nested.get(id(node))
    if made is None:
        inner = type(node)(items=node.items[1:], body=node.body)
        made = type(node)(items=node.items[:1], body=[ast.copy_location(inner, node)])
        vm.nested[id(node)] = made = ast.copy_location(made, node)
    return made


def _around(vm: Machine, node: _With) -> bool:
    item = node.items[0]
    callee = generator_of(vm, item)
    assert callee is not None and isinstance(item.context_expr, ast.Call)
    function = callee.function if isinstance(callee, Bound) else callee
    arguments = together(vm, arguments_of(vm, item.context_expr))
    given = arguments.after(callee.receiver) if isinstance(callee, Bound) else arguments
    frame, loops = vm.frame, vm.loops
    assert isinstance(function, Function) and not isinstance(function.node, ast.Lambda)
    rest = _after_yield(function.node.body) or []

    def last() -> None:
        for block in rest:
            vm.language.execute_block(vm, block)

    def block(value: Value) -> Value:
        inside, inner = vm.stack.pop(), vm.loops
        frame.doubtful = frame.doubtful or inside.doubtful
        vm.frame, vm.loops = frame, loops
        try:
            if item.optional_vars is not None:
                assign_target(vm, item.optional_vars, value)
            leaving = Leaving(vm)
            leaving.raised = []  # the generator's own handlers see what is raised
            after = vm.follow(lambda: vm.language.execute_block(vm, node.body))
        finally:
            vm.stack.append(inside)
            vm.frame, vm.loops = inside, inner
        leaving.run(vm, last)
        if after is None:
            raise PathEnd
        vm.state = after
        return NONE

    return run_around(vm, function, given, item.context_expr, block)


def _after_yield(body: list[ast.stmt]) -> list[list[ast.stmt]] | None:
    """What is run, block by block, once the one `yield` of a body has given control back; None where there is not one
    that every run meets."""
    if sum(1 for each in own_parts(body) if isinstance(each, ast.Yield | ast.YieldFrom)) != 1:
        return None
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Yield):
            return [body[place + 1 :]]
        if isinstance(statement, ast.Try | ast.With | ast.AsyncWith):
            inner = _after_yield(statement.body)
            if inner is not None:
                ends = [statement.orelse, statement.finalbody] if isinstance(statement, ast.Try) else []
                return [*inner, *ends, body[place + 1 :]]
    return None
