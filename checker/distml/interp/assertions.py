"""`assert`: refines what follows; one about shapes that cannot hold is a finding."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.branches import decided
from distml.interp.contracts import check_fails, reads_exposed
from distml.interp.findings import fail
from distml.interp.refine import refine
from distml.interp.shapewise import reads_shapes
from distml.ops import Call, ShapeError
from distml.values import Const, Num, ShapeSeq, Tup, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine

_SHAPE_WORDS = frozenset({"shape", "size", "ndim", "dim"})


def execute_assert(vm: Machine, node: ast.Assert) -> None:
    """Run an assertion."""
    known, conditions = decided(vm, node, node.test)[1:]
    if known is None and vm.watcher is not None:
        vm.watcher.demand(conditions[0], "SHP602", f"the assertion {vm.snippet(node.test)}")
    if known is False:
        of_shapes = _about_shapes(node.test) and not reads_exposed(vm, node.test)
        if not check_fails(vm, node, node.test, node.msg, only_of_callers=of_shapes) and of_shapes:
            fail(vm, _contradiction(vm, node), node)
        if vm.watcher is not None and reads_shapes(vm, node.test):
            vm.watcher.refused(node, f"this assertion always fails: {vm.snippet(node.test)}")
        raise vm.raised()
    refine(vm, node.test, True)


def _about_shapes(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and any(
        isinstance(part, ast.Attribute) and part.attr in _SHAPE_WORDS for part in ast.walk(test)
    )


def _contradiction(vm: Machine, node: ast.Assert) -> ShapeError:
    assert isinstance(node.test, ast.Compare)
    sides = [node.test.left, *node.test.comparators]
    texts, notes = [], []
    call = Call(vm, "assert", "array")
    for side in sides:
        value = vm.language.evaluate(vm, side)
        texts.append(f"{vm.snippet(side)} is {_show(vm, value)}")
        dims = [call.dim(v) for v in (value.items if isinstance(value, Tup) else (value,))]
        notes += call.notes(*(d for d in dims if d is not None))
    shown = [t for t, side in zip(texts, sides, strict=True) if not isinstance(side, ast.Constant | ast.Tuple)]
    reason = ", ".join(shown or texts)
    return ShapeError("SHP602", f"this assertion always fails: {reason}", notes[:3])


def _show(vm: Machine, value: Value) -> str:
    if isinstance(value, Tup):
        return "(" + ", ".join(_show(vm, item) for item in value.items) + ")"
    if isinstance(value, Num):
        return repr(vm.facts.dim(value.dim))
    if isinstance(value, Const):
        return repr(value.value)
    return repr(vm.facts.shape(value.shape)) if isinstance(value, ShapeSeq) else "unknown"
