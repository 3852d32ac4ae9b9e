"""Why a statement is run: the conditions and patterns that were tested on the way to it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.interp.machine import Machine


class Test(NamedTuple):
    """A condition, or the subject of a `match` that a `pattern` is held against, and its outcome."""

    node: ast.expr
    holds: bool
    pattern: ast.pattern | None = None


_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def run_arm(
    vm: Machine, node: ast.stmt, tests: list[Test], body: list[ast.stmt], others: Sequence[list[ast.stmt]]
) -> None:
    """Run the arm of an `if` or a `match` that is the one because of `tests`. What stands behind it is run because of
    them too, if one of the `others` would have left."""
    _under(vm, tests, lambda: vm.language.execute_block(vm, body))
    if any(other and isinstance(other[-1], _LEAVING) for other in others):
        passed, inner = vm.frame.passed or (None, [])
        vm.frame.passed = (node, [*tests, *inner] if body and passed is body[-1] else tests)


def run_behind(vm: Machine, node: ast.Raise, before: ast.stmt | None) -> None:
    """Run a `raise` behind another statement: behind a decided `if` or `match` it is one more arm of it."""
    passed, tests = vm.frame.passed or (None, [])
    _under(vm, tests if passed is before else [], lambda: vm.language.execute(vm, node))


def _under(vm: Machine, tests: list[Test], run: Callable[[], None]) -> None:
    vm.frame.tests += tests
    try:
        run()
    finally:
        del vm.frame.tests[len(vm.frame.tests) - len(tests) :]
