"""List, set, dict comprehensions and generator expressions."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from distml.interp.branches import perhaps, sheltered
from distml.interp.frames import Frame
from distml.interp.generators import made_later
from distml.interp.giving_up import give_up, too_deep
from distml.interp.iteration import fresh_item
from distml.interp.join import join_many
from distml.interp.one_value import asked, items_of
from distml.interp.patterns import assign_target
from distml.interp.refine import refine
from distml.interp.scope import scope_of
from distml.ops.python.keys import canonical, stored
from distml.shapes import Dim
from distml.values import Const, DictRecord, IteratorRecord, ListRecord, SetRecord, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from distml.interp.machine import Machine

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class _Collector:
    """What a comprehension has produced: items, and whether that is all of them."""

    def __init__(self) -> None:
        self.items: list[tuple[Value, ...]] = []
        self.exact = True
        self.length: Dim | None = None


def _collect(vm: Machine, node: Comprehension, parts: tuple[ast.expr, ...]) -> _Collector:
    collector = _Collector()

    def produce() -> None:
        collector.items.append(tuple(vm.language.evaluate(vm, part) for part in parts))

    _run(vm, node, collector, produce)
    return collector


def for_each(vm: Machine, node: Comprehension, produce: Callable[[], None]) -> bool:
    """Run something where an item of a comprehension is made, with its variables; whether that was once for each item."""
    collector = _Collector()
    _run(vm, node, collector, produce)
    return collector.exact


def _run(vm: Machine, node: Comprehension, collector: _Collector, produce: Callable[[], None]) -> None:
    # Outside, as Python does: in a class body it meets the names of the class.
    first = vm.language.evaluate(vm, node.generators[0].iter)
    frame = Frame(vm.serial(), "<comprehension>", scope_of(node), vm.frame.module, vm.frame)
    frame.receiver, frame.owner = vm.frame.receiver, vm.frame.owner
    vm.open_frame(frame)
    outer, vm.frame = vm.frame, frame
    try:
        _generate(vm, node.generators, collector, produce, first)
    finally:
        vm.frame = outer
        if not frame.captured:
            vm.close_frame(frame)
            for name in frame.scope.locals:
                vm.state.drop((frame.ident, name))
    if frame.captured:
        outer.captured = True


def _generate(
    vm: Machine,
    generators: list[ast.comprehension],
    collector: _Collector,
    produce: Callable[[], None],
    outermost: Value | None = None,
) -> None:
    if not generators:
        produce()
        return
    if too_deep(vm):
        collector.exact = False
        give_up(vm, [part for each in generators for part in (each.target, each.iter, *each.ifs)])
        perhaps(vm, produce)
        return
    first, rest = generators[0], generators[1:]
    items = items_of(vm, vm.language.evaluate(vm, first.iter) if outermost is None else outermost, first.iter)
    if isinstance(items, tuple):
        for item in items:
            vm.step()
            assign_target(vm, first.target, item)
            _where(vm, first.ifs, collector, lambda: _generate(vm, rest, collector, produce))
        return
    collector.exact = False
    if outermost is not None and not rest and not first.ifs:
        collector.length = items.length

    found = len(collector.items)

    def turn() -> None:
        del collector.items[found:]  # a later round covers what an earlier one gave
        assign_target(vm, first.target, fresh_item(vm, items))
        _where(vm, first.ifs, collector, lambda: _generate(vm, rest, collector, produce))

    if not vm.language.any_times(vm, turn):
        collector.items[found:] = [tuple(vm.opaque("item") for _ in item) for item in collector.items[found:]]


def _where(vm: Machine, conditions: list[ast.expr], collector: _Collector, run: Callable[[], None]) -> None:
    """Run where the conditions hold; what follows from one that may fail holds only inside."""
    if conditions and too_deep(vm):
        collector.exact = False
        give_up(vm, conditions)
        perhaps(vm, run)
        return
    for index, condition in enumerate(conditions):
        known = asked(vm, vm.language.evaluate(vm, condition), condition)
        if known is False:
            return
        if known is None:
            collector.exact = False

            def inside(condition: ast.expr = condition, rest: list[ast.expr] = conditions[index + 1 :]) -> None:
                refine(vm, condition, True)
                _where(vm, rest, collector, run)

            perhaps(vm, inside)
            return
    run()


def _values(collector: _Collector) -> list[Value]:
    return [item[0] for item in collector.items]


def list_comprehension(vm: Machine, node: ast.ListComp) -> Value:
    """`[x for ...]`."""
    found = _collect(vm, node, (node.elt,))
    if found.exact:
        return vm.allocate(ListRecord(tuple(_values(found))))
    item = join_many(vm, _values(found)) if found.items else None
    return vm.allocate(ListRecord(None, item, found.length))


def set_comprehension(vm: Machine, node: ast.SetComp) -> Value:
    """`{x for ...}`."""
    found = _collect(vm, node, (node.elt,))
    known = found.exact and all(isinstance(v, Const) for v in _values(found))
    if known:
        return vm.allocate(SetRecord(tuple(dict.fromkeys(_values(found)))))
    return vm.allocate(SetRecord(None, join_many(vm, _values(found)) if found.items else None))


def dict_comprehension(vm: Machine, node: ast.DictComp) -> Value:
    """`{k: v for ...}`."""
    found = _collect(vm, node, (node.key, node.value))
    items: dict[Value, Value] = {}
    exact = found.exact
    rest: list[Value] = []
    for key, value in found.items:
        if found.exact and canonical(vm, key) is not None:
            items[stored(key)] = value
        else:
            exact = False
            rest.append(value)
    return vm.allocate(DictRecord(items, exact, join_many(vm, rest) if rest else None))


def generator_expression(vm: Machine, node: ast.GeneratorExp, whole: bool = False) -> Value:
    """`(x for ...)`, run at once. Unless it is consumed `whole` now, that may be later, in part or never."""
    if whole:
        return _generator(vm, node)
    with sheltered(vm), made_later(vm) as made, _read_later(vm, node):
        made.append(_generator(vm, node))
    return made[0]


@contextmanager
def _read_later(vm: Machine, node: ast.GeneratorExp) -> Iterator[None]:
    """Variables are read when an item is asked for: those that are set again behind it may be others by then. What it goes
    through is found at once (Python reference, generator expressions)."""
    frame, (first, *rest) = vm.frame, node.generators
    later = [node.elt, *first.ifs, *(part for each in rest for part in (each.iter, *each.ifs))]
    named = {each.id for part in later for each in ast.walk(part) if isinstance(each, ast.Name)}
    again = {each for each in named if frame.scope.last.get(each, 0) > (node.end_lineno or node.lineno)}
    held = {name: value for name in again if (value := vm.variable(frame.ident, name)) is not None}
    for name in held:
        vm.assign(frame.ident, name, vm.opaque(name))
    try:
        yield
    finally:
        for name, value in held.items():
            vm.assign(frame.ident, name, value)


def _generator(vm: Machine, node: ast.GeneratorExp) -> Value:
    found = _collect(vm, node, (node.elt,))
    if found.exact:
        return vm.allocate(IteratorRecord(tuple(_values(found))))
    return vm.allocate(IteratorRecord(None, join_many(vm, _values(found)) if found.items else None))
